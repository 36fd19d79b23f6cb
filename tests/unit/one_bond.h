/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond whose slaves are no devices, with one part, and a clock for tests that wrap
 * clock_gettime(). Included by unit tests of parts.
 */
#ifndef XBOND_TESTS_UNIT_ONE_BOND_H
#define XBOND_TESTS_UNIT_ONE_BOND_H

#include <string.h>

#include "common/clock.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"
#include "tests/unit/unit.h"

static struct xbond_bond pin;
static struct xbond_slave slaves[XBOND_MAX_SLAVES];
static struct xbond_attached attached;
static struct daemon host;
static struct bond bond;
static uint64_t now_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	*ret_now = (struct timespec){ .tv_sec = (time_t)(now_ns / NS_PER_S) };
	return 0;
}

/* Of its maps, there are these, and they are empty but for its name. */
static void bond_begin(struct part *only)
{
	static struct part *table[1];

	table[0] = only;
	pin = (struct xbond_bond){ .name = "bond0" };
	memset(slaves, 0, sizeof(slaves));
	attached = (struct xbond_attached){ 0 };
	bond = (struct bond){
		.daemon = &host,
		.dataplane.pins = { .bond = &pin, .slaves = slaves, .attached = &attached },
	};
	now_ns = 0;
	parts_init(table, 1);
	parts_new(&bond);
}

static int bond_end(void **state)
{
	parts_free(&bond);
	return 0;
}

#endif
