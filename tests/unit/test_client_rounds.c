/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A map of clients that cannot be read is not an empty one; which clients are forgotten. The map
 * and the clock are by hand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

TEST(a_map_that_cannot_be_read_is_read_again, make_bond, free_bond)
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
TEST(clients_of_another_mode_are_not_given_up, make_bond, free_bond)
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

#define HALF (XBOND_MAX_CLIENTS / 2)
#define NEARLY_FULL (XBOND_MAX_CLIENTS / 8 * 7 + 1)
#define HOUR 3600
#define LATE (10 * HOUR)

static struct client_entry entries[XBOND_MAX_CLIENTS]; /* the map of a round */
static struct client_plan plan = { .entries = entries };

static struct client_entry *add(uint64_t age_s, uint32_t uses)
{
	struct client_entry *entry = &entries[plan.count++];

	*entry = (struct client_entry){ .key.peer[0] = 1, .client = { .mac = 2, .uses = uses } };
	entry->client.used_ns = (LATE - age_s) * 1000000000;
	return entry;
}

/* Clients, all of this age. */
static void fill(int count, uint64_t age_s, uint32_t uses)
{
	plan.count = 0;
	while (plan.count < count)
		add(age_s, uses);
}

/* Returns how many are forgotten. */
static int make_plan(void)
{
	int count = 0;

	client_plan_read_slaves(bond, &plan.slaves);
	client_plan_make(bond, &plan, LATE * 1000000000ULL, 0);
	for (int i = 0; i < plan.count; i++)
		count += plan.what[i] == CLIENT_FORGET;
	return count;
}

/* Of those that have answered. */
static void check_forgotten_are_of(uint64_t age_s)
{
	for (int i = 0; i < plan.count; i++)
		if (entries[i].client.mac)
			assert_int_equal(plan.what[i] == CLIENT_FORGET,
					 entries[i].client.used_ns <= (LATE - age_s) * 1000000000);
}

/* Neighbours with long TCP connections do not ask again. */
TEST(with_room_for_all_who_has_answered_stays, make_bond, free_bond)
{
	fill(HALF - 1, 5 * HOUR, 1);
	assert_int_equal(make_plan(), 0);
	add(61, 1)->client.mac = 0;
	assert_int_equal(make_plan(), 1);
	check_forgotten_are_of(LATE);
	fill(HALF, 5 * HOUR, 1);
	assert_int_equal(make_plan(), 0);
}

/* Their ages are in no order. */
TEST(the_longest_unheard_go_and_no_more_than_needed, make_bond, free_bond)
{
	plan.count = 0;
	for (int i = 0; i < HALF + 9; i++)
		add(HOUR + (unsigned int)i * 1009 % (HALF + 9), 9);
	for (int i = 0; i < 3; i++)
		add(61, 1)->client.mac = 0;
	assert_int_equal(make_plan(), 12);
	check_forgotten_are_of(HOUR + HALF);
}

TEST(who_was_heard_lately_stays, make_bond, free_bond)
{
	fill(NEARLY_FULL - 5, 599, 1);
	for (int i = 0; i < 4; i++)
		add(601, 9);
	assert_int_equal(make_plan(), 4);
	check_forgotten_are_of(601);
}

TEST(in_a_nearly_full_map_once_is_little, make_bond, free_bond)
{
	fill(NEARLY_FULL, 61, 1);
	assert_int_equal(make_plan(), NEARLY_FULL - HALF);
	fill(NEARLY_FULL, 61, 2);
	assert_int_equal(make_plan(), 0);
	fill(NEARLY_FULL, 59, 1);
	assert_int_equal(make_plan(), 0);
}

/* Of the addresses of bond0. The clients are of the first one, and the last one is a mark. */
TEST(an_address_goes_when_it_is_old_and_has_no_clients, make_bond, free_bond)
{
	static const uint64_t ages[] = { 6 * HOUR, 601, 599, 601 };

	for (int count = 1; count <= NEARLY_FULL; count += HALF) {
		fill(count, 5 * HOUR, 9);
		for (unsigned int i = 0; i < 4; i++) {
			struct client_entry *own = add(ages[i], 0);

			memset(own->key.peer, 0, sizeof(own->key.peer));
			own->key.own[0] = (unsigned char)i;
			own->key.is_mark = i == 3;
			own->client.mac = 0;
		}
		make_plan();
		for (int i = 0; i < plan.count; i++)
			if (client_table_is_own(&entries[i]))
				assert_int_equal(plan.what[i] == CLIENT_FORGET,
						 entries[i].key.own[0] == 1);
	}
}
