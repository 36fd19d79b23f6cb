/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the LACP thread and the main loop publish in common: neither undoes the other. No thread
 * runs here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "tests/unit/unit.h"

#define OTHERS (XBOND_F_NETKIT | XBOND_F_QUEUE_IDS)

static struct lacp_thread_bond bond;
static struct xbond_table table;
static struct xbond_hold hold[XBOND_MAX_SLAVES];
static struct xbond_lacp pinned;

static int begin(void **state)
{
	memset(&bond, 0, sizeof(bond));
	memset(&table, 0, sizeof(table));
	memset(hold, 0, sizeof(hold));
	bond.table = &table;
	bond.hold = hold;
	bond.pinned = &pinned;
	bond.send_fd = -1;
	bond.sys.state.config.min_links = 1;
	table.flags = OTHERS;
	return 0;
}

/*
 * The caller has seen three ports distribute, and two collect, before the thread took one out and
 * opened another.
 */
TEST(masks_are_as_the_thread_has_them_now, begin)
{
	bond.distributing = 0x5;
	bond.collecting = 0xd;
	lacp_thread_bond_publish(&bond, 0x7, 0xf, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.tx_mask, 0x5);
	assert_int_equal(table.rx_mask, 0xd);
	lacp_thread_bond_publish(&bond, 0x1, 0x7,
				 /* Tx waits for the plan; slot 3 is no member any more. */
				 LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.tx_mask, 0x1);
	assert_int_equal(table.rx_mask, 0x5);
}

/* Its partner has been told, and what it had sent before is on its way. */
TEST(a_port_that_leaves_receives_as_long_as_it_lingers, begin)
{
	bond.distributing = bond.collecting = 0x1;
	bond.lingering = 0x6;
	lacp_thread_bond_publish(&bond, 0x3, 0x3, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.tx_mask, 0x1);
	assert_int_equal(table.rx_mask, 0x3);
	bond.lingering = 0;
	lacp_thread_bond_publish(&bond, 0x3, 0x3, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.rx_mask, 0x1);
}

TEST(what_the_programs_took_out_stays_out, begin)
{
	bond.distributing = bond.collecting = 0x3;
	hold[1].ended = XBOND_HOLD_SILENT;
	lacp_thread_bond_publish(&bond, 0x3, 0x3, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.tx_mask, 0x1);
	assert_int_equal(table.rx_mask, 0x1);
	hold[1].ended = XBOND_HOLD_GOES_ON;
	lacp_thread_bond_publish(&bond, 0x3, 0x3, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.tx_mask, 0x3);
}

TEST(only_two_flags_are_ours, begin)
{
	static const struct {
		uint64_t collecting;
		enum lacp_thread_pair pair;
		uint32_t flags;
	} table_of_cases[] = {
		{ 0x0, LACP_THREAD_PAIR_AROUND, 0 },
		{ 0x1, LACP_THREAD_PAIR_AROUND, 0 }, /* min_links */
		{ 0x3, LACP_THREAD_PAIR_AROUND, XBOND_F_CARRIER | XBOND_F_OPENING },
		{ 0x3, LACP_THREAD_PAIR_OPEN, XBOND_F_CARRIER },
		{ 0x3, LACP_THREAD_PAIR_CLOSED, XBOND_F_CARRIER },
		{ 0x1, LACP_THREAD_PAIR_OPEN, 0 },
	};

	bond.sys.state.config.min_links = 2;
	for (unsigned int i = 0; i < sizeof(table_of_cases) / sizeof(*table_of_cases); i++) {
		bond.collecting = table_of_cases[i].collecting;
		lacp_thread_bond_publish(&bond, 0, 0x3, table_of_cases[i].pair);
		assert_int_equal(table.flags, OTHERS | table_of_cases[i].flags);
	}
}

/*
 * What the stack sends must have ended to cross the pair before XDP chooses again: that order is
 * the main loop's.
 */
TEST(the_carrier_does_not_change_while_xdp_chooses, begin)
{
	table.flags = XBOND_F_XDP_TX | XBOND_F_CARRIER;
	lacp_thread_bond_publish(&bond, 0, 0x1, LACP_THREAD_PAIR_OPEN);
	assert_int_equal(table.flags, XBOND_F_XDP_TX | XBOND_F_CARRIER);
	table.flags = XBOND_F_XDP_TX;
	bond.collecting = 0x1;
	lacp_thread_bond_publish(&bond, 0, 0x1, LACP_THREAD_PAIR_AROUND);
	assert_int_equal(table.flags, XBOND_F_XDP_TX);
}

static int on_pdu(void *context, void *data, size_t size)
{
	return 0;
}

/* One port that has said nothing yet, and an empty ring. */
static int begin_with_port(void **state)
{
	struct lacp_config config = lacp_config_default();
	struct lacp_port_config port = { .port = 1,
					 .duplex = LACP_DUPLEX_FULL,
					 .link = LACP_LINK_UP };
	int fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (unsigned int)getpagesize(), NULL);

	begin(state);
	config.system[0] = 2;
	bond.realtime.ring = fd < 0 ? NULL : ring_buffer__new(fd, on_pdu, NULL, NULL);
	close(fd);
	if (!bond.realtime.ring)
		return 0;
	lacp_thread_bond_start(&bond, 0, &config);
	return lacp_thread_bond_set_port(&bond, 0, 1, &port);
}

static int end_with_port(void **state)
{
	ring_buffer__free(bond.realtime.ring);
	return 0;
}

static void need_ring(void)
{
	if (bond.realtime.ring)
		return;
	print_message("no BPF ring buffer without root\n");
	skip();
}

/*
 * The run has begun in time, but was preempted before it could beat; the programs took the port out
 * meanwhile.
 */
TEST(an_absence_is_seen_whenever_it_was, begin_with_port, end_with_port)
{
	uint64_t now_ns = clock_now_ns();

	need_ring();
	hold[0].ended = XBOND_HOLD_SILENT;
	bond.realtime.has_news = false;
	table.lacp_heartbeat_ns = now_ns - 600 * NS_PER_MS;
	lacp_thread_run(&bond.realtime, now_ns - 300 * NS_PER_MS);
	assert_int_equal(hold[0].ended, XBOND_HOLD_GOES_ON);
	assert_true(bond.realtime.has_news);
	assert_true(table.lacp_heartbeat_ns >= now_ns);
}
