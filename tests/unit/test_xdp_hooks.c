/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/slave/xdp_hooks.c where libxdp does not answer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "daemon/base/child.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"

static struct xbond_bond pin = { .name = "bond0", .rx_hook = XBOND_RX_XDP };
static struct xbond_slave slaves[XBOND_MAX_SLAVES];
static struct xbond_attached attached;
static struct daemon host;
static struct bond bond = {
	.daemon = &host,
	.dataplane.pins = { .bond = &pin, .slaves = slaves, .attached = &attached },
};
static int libxdp; /* its answer */
static uint64_t now_ns = NS_PER_S;

int __wrap_child_run(int (*work)(const void *arg), const void *arg, int keep_fd);
int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link);
bool __wrap_link_is_kind(struct nl *nl, int ifindex, const char *kind);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_child_run(int (*work)(const void *arg), const void *arg, int keep_fd)
{
	(void)work, (void)arg, (void)keep_fd;
	return libxdp;
}

/* The dispatcher is the same all the time. */
int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link)
{
	(void)nl, (void)nsid;
	*ret_link = (struct link_info){ .ifindex = ifindex, .xdp_id = 17 };
	return 0;
}

bool __wrap_link_is_kind(struct nl *nl, int ifindex, const char *kind)
{
	(void)nl, (void)ifindex, (void)kind;
	return false;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = (struct timespec){ .tv_sec = (time_t)(now_ns / NS_PER_S) };
	return 0;
}

static void time_passes(unsigned int seconds)
{
	now_ns += seconds * NS_PER_S;
	xdp_part.settle(&bond, 0, NEWS_TIME);
}

/* bondd begins while somebody has libxdp's lock, who takes its program out of the dispatcher. */
static void a_program_that_nobody_has_seen_is_looked_for(void **state)
{
	(void)state;
	slaves[0] = (struct xbond_slave){
		.name = "l0", .ifindex = 2, .state = XBOND_SLOT_MEMBER, .rx_hook = XBOND_RX_XDP
	};
	libxdp = -ENOLCK;
	assert_int_equal(xdp_settle_slave(&bond, 0, NULL), 0);
	time_passes(10);
	assert_int_equal(slaves[0].rx_hook, XBOND_RX_XDP);
	libxdp = -ENOENT;
	time_passes(10);
	assert_int_equal(attached.detached[0], 0);
	time_passes(2);
	assert_int_equal(attached.detached[0], 1);
}

static int setup(void **state)
{
	static struct part *const table[] = { &xdp_part };

	(void)state;
	parts_init(table, 1);
	parts_new(&bond);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	parts_free(&bond);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_nobody_has_seen_is_looked_for),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
