/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map of clients that cannot be read is not an empty one. The map and the clock are by hand. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/readings.h"
#include "daemon/alb/alb.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp.h"
#include "tests/unit/unit.h"

#define FD 1000000 /* of no file */
#define BOTH 3

static struct bond *bond;
static struct daemon daemon_made;
static int error, reads; /* how the map is read now, and how often it was */
static time_t now_s;

/* One client, which has not answered yet, so that it is told nothing. */
int __wrap_client_table_read(int clients_fd, struct client_entry **ret_entries)
{
	assert_int_equal(clients_fd, FD);
	*ret_entries = NULL;
	reads++;
	if (error)
		return error;
	*ret_entries = calloc(XBOND_MAX_CLIENTS, sizeof(**ret_entries));
	(*ret_entries)->key.peer[0] = 1;
	(*ret_entries)->client.used_ns = (__u64)now_s * 1000000000;
	return 1;
}

void __wrap_arp_sender_flush(struct arp_sender *sender)
{
	assert_null(sender);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*ret_now = (struct timespec){ .tv_sec = now_s };
	return 0;
}

static int make_bond(void **state)
{
	static struct part *const table[] = { &learning_part, &clients_part };
	struct pins *pins;

	parts_init(table, 2);
	now_s = 100;
	reads = 0;
	bond = calloc(1, sizeof(*bond));
	parts_new(bond);
	pins = &bond->dataplane.pins;
	pins->slaves = calloc(XBOND_MAX_SLAVES, sizeof(*pins->slaves));
	pins->bond = calloc(1, sizeof(*pins->bond));
	pins->table = calloc(1, sizeof(*pins->table));
	pins->settings = calloc(1, sizeof(*pins->settings));
	pins->receivers = calloc(1, sizeof(*pins->receivers));
	pins->clients_fd = FD;
	pins->bond->state = XBOND_BOND_READY;
	pins->bond->mode = XBOND_MODE_BALANCE_ALB;
	pins->bond->mac[5] = 1;
	for (unsigned int slot = 0; slot < 2; slot++) {
		pins->slaves[slot].state = XBOND_SLOT_MEMBER;
		pins->slaves[slot].mac[5] = (unsigned char)(slot + 1);
	}
	pins->table->tx_mask = BOTH;
	bond->daemon = &daemon_made;
	bond->is_running = true;
	return 0;
}

static int free_bond(void **state)
{
	struct pins *pins = &bond->dataplane.pins;

	parts_stop(bond, true);
	parts_free(bond);
	free(pins->slaves);
	free(pins->bond);
	free(pins->table);
	free(pins->settings);
	free(pins->receivers);
	free(bond);
	return 0;
}

static void a_map_that_cannot_be_read_is_read_again(void **state)
{
	const struct xbond_receivers *receivers = bond->dataplane.pins.receivers;

	error = -ENOMEM;
	client_rounds_settle(bond);
	assert_int_equal(receivers->levelled, 0);
	client_rounds_settle(bond);
	assert_int_equal(reads, 1);
	error = 0;
	now_s += 2;
	client_rounds_settle(bond);
	assert_int_equal(reads, 2);
	assert_int_equal(receivers->levelled, BOTH);
}

/* The first field of the part's state; NULL: off. */
static const void *rounds(void)
{
	return *(void **)part_of_bond(bond, &clients_part);
}

/* After a change of mode they are told bond0's address, and then forgotten. */
static void clients_of_another_mode_are_not_given_up(void **state)
{
	error = 0;
	client_rounds_settle(bond);
	bond->dataplane.pins.bond->mode = XBOND_MODE_BALANCE_RR;
	error = -ENOMEM;
	client_rounds_settle(bond);
	assert_non_null(rounds());
	error = 0;
	now_s += 2;
	client_rounds_settle(bond);
	assert_int_equal(reads, 3);
	assert_non_null(rounds());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_map_that_cannot_be_read_is_read_again, make_bond,
						free_bond),
		cmocka_unit_test_setup_teardown(clients_of_another_mode_are_not_given_up, make_bond,
						free_bond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
