/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sessions of one bond tell of each other: when it is known that the far end speaks BFD,
 * and when that is forgotten. No thread runs here, and no packet is sent or received.
 */
#include <linux/pkt_sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bfd/bfd.h"
#include "common/clock.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "network/packet.h"
#include "tests/unit/unit.h"

struct ring_buffer;

static struct bfd_thread_bond bond;
static struct xbond_bfd map;
static uint64_t now_ns;

/* Nothing is in the ring. */

int __wrap_ring_buffer__consume(struct ring_buffer *ring)
{
	return 0;
}

static void bondd_begins(void)
{
	memset(&bond, 0, sizeof(bond));
	bond.map = &map;
	bond.send_fd = -1;
	bond.config.interval_us = 50000;
	bond.config.multiplier = 3;
}

static int begin(void **state)
{
	memset(&map, 0, sizeof(map));
	bondd_begins();
	now_ns = clock_now_ns();
	return 0;
}

static void run(void)
{
	bfd_thread_bond_run(&bond, now_ns);
}

static void add(unsigned int slot)
{
	const struct bfd_thread_port port = { .ifindex = 1000 + (int)slot };

	bfd_thread_bond_set_port(&bond, slot, &port);
}

static void remove_slave(unsigned int slot)
{
	const struct bfd_thread_port none = { 0 };

	bfd_thread_bond_set_port(&bond, slot, &none);
}

static void hear(unsigned int slot, enum bfd_state heard)
{
	const struct bfd_packet packet = {
		.state = (uint8_t)heard,
		.multiplier = 3,
		.my_discr = 7000 + slot,
		.your_discr = heard == BFD_DOWN ? 0 : bond.link[slot].session.local_discr,
		.min_tx_us = 50000,
		.min_rx_us = 50000,
	};

	assert_true(bfd_session_receive(&bond.link[slot].session, &packet, now_ns));
	bond.link[slot].changed = true;
	run();
}

static void come_up(unsigned int slot)
{
	hear(slot, BFD_DOWN);
	hear(slot, BFD_UP);
	assert_int_equal(bond.link[slot].verdict, BFD_WORKS);
}

/* Without a word of the far end. */
static void wait_a_minute(void)
{
	now_ns += 60 * NS_PER_S;
	run();
}

static void verdicts_are(enum bfd_verdict first, enum bfd_verdict second)
{
	run();
	assert_int_equal(bond.link[0].verdict, first);
	assert_int_equal(bond.link[1].verdict, second);
}

static void both_are_up(void)
{
	add(0);
	add(1);
	come_up(0);
	come_up(1);
}

TEST(its_socket_has_control_priority)
{
	int fd = packet_open_control(), priority = 0;
	socklen_t size = sizeof(priority);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, &size), 0);
	assert_int_equal(priority, TC_PRIO_CONTROL);
	close(fd);
}

TEST(a_slave_that_is_added_late_has_three_seconds, begin)
{
	add(0);
	come_up(0);
	map.known_ns = 1; /* long ago */
	add(1);
	now_ns = clock_now_ns();
	verdicts_are(BFD_WORKS, BFD_NO_VERDICT);
	now_ns += BFD_GRACE_NS - 1000 * NS_PER_MS;
	hear(0, BFD_UP);
	verdicts_are(BFD_WORKS, BFD_NO_VERDICT);
	now_ns += 1000 * NS_PER_MS;
	hear(0, BFD_UP);
	verdicts_are(BFD_WORKS, BFD_FAILS);
}

TEST(after_bfd_was_turned_off_there_slaves_can_be_added_again, begin)
{
	both_are_up();
	hear(0, BFD_ADMIN_DOWN);
	assert_int_not_equal(map.known_ns, 0);
	hear(1, BFD_ADMIN_DOWN);
	assert_int_equal(map.known_ns, 0);
	for (unsigned int slot = 0; slot < 2; slot++) {
		remove_slave(slot);
		add(slot);
		wait_a_minute();
		verdicts_are(BFD_NO_VERDICT, BFD_NO_VERDICT);
	}
	come_up(0);
	assert_true(map.known_ns == now_ns);
	verdicts_are(BFD_WORKS, BFD_NO_VERDICT);
}

/* One far end of two. A slave that is added again may lead to either. */
TEST(a_session_that_is_up_shows_that_bfd_is_spoken, begin)
{
	both_are_up();
	hear(0, BFD_ADMIN_DOWN);
	verdicts_are(BFD_NO_VERDICT, BFD_WORKS);
	assert_int_not_equal(map.known_ns, 0);
	remove_slave(1);
	run();
	assert_int_equal(map.known_ns, 0);
}

TEST(silence_is_not_turned_off, begin)
{
	both_are_up();
	wait_a_minute();
	verdicts_are(BFD_FAILS, BFD_FAILS);
	assert_int_not_equal(map.known_ns, 0);
	remove_slave(0);
	add(0);
	wait_a_minute();
	verdicts_are(BFD_FAILS, BFD_FAILS);
}

/* Neither one that was up nor one that never was. */
TEST(what_fails_does_not_work_because_bfd_was_turned_off_elsewhere, begin)
{
	both_are_up();
	add(2);
	now_ns += BFD_GRACE_NS + 1000 * NS_PER_MS;
	hear(1, BFD_UP);
	verdicts_are(BFD_FAILS, BFD_WORKS);
	assert_int_equal(bond.link[2].verdict, BFD_FAILS);
	hear(1, BFD_ADMIN_DOWN);
	wait_a_minute();
	assert_int_equal(map.known_ns, 0);
	verdicts_are(BFD_FAILS, BFD_NO_VERDICT);
	assert_int_equal(bond.link[2].verdict, BFD_FAILS);
	remove_slave(1);
	add(1);
	wait_a_minute();
	verdicts_are(BFD_FAILS, BFD_NO_VERDICT);
}

TEST(without_slaves_nothing_is_known, begin)
{
	both_are_up();
	remove_slave(0);
	remove_slave(1);
	run();
	assert_int_equal(map.known_ns, 0);
}

/* It runs before all sessions have been continued. */
TEST(the_next_bondd_knows_the_same, begin)
{
	uint64_t known_ns;

	both_are_up();
	add(2);
	hear(0, BFD_ADMIN_DOWN);
	known_ns = map.known_ns;
	bondd_begins();
	run();
	assert_true(known_ns && map.known_ns == known_ns);
	add(0);
	run();
	assert_true(map.known_ns == known_ns);
	add(1);
	add(2);
	verdicts_are(BFD_NO_VERDICT, BFD_WORKS);
	hear(1, BFD_ADMIN_DOWN);
	bondd_begins();
	add(0);
	add(1);
	add(2);
	wait_a_minute();
	verdicts_are(BFD_NO_VERDICT, BFD_NO_VERDICT);
	assert_int_equal(bond.link[2].verdict, BFD_NO_VERDICT);
}

TEST(another_interval_changes_nothing_of_it, begin)
{
	struct bfd_thread_config config = { .interval_us = 100000, .multiplier = 3 };

	both_are_up();
	hear(0, BFD_ADMIN_DOWN);
	hear(1, BFD_ADMIN_DOWN);
	bfd_thread_bond_configure(&bond, &config);
	wait_a_minute();
	verdicts_are(BFD_NO_VERDICT, BFD_NO_VERDICT);
	assert_int_equal(map.known_ns, 0);
}
