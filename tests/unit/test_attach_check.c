/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/bond/attach_check.c where the kernel does not answer, or refuses programs. */
#include <errno.h>

#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "tests/unit/one_bond.h"

#define SLOT 2
#define OURS 17 /* the kernel's number of the program that is to be there */

static uint32_t pinned, seen; /* as the kernel tells; 0: it tells nothing */
static int is_there;	      /* 1 or 0; -errno */
static bool seen_is_of_xbond;
static unsigned int replaced, put_back, told;
static int path_refused; /* -errno, when other programs are loaded for the path */
static unsigned int loaded;

uint32_t __wrap_attach_program(const struct attach_point *point)
{
	return seen;
}

uint32_t __wrap_pin_program_id(int program_fd)
{
	return pinned;
}

int __wrap_attach_is_there(const struct attach_point *point)
{
	return is_there;
}

bool __wrap_attach_is_of_xbond(uint32_t id)
{
	assert_int_equal(id, seen);
	return seen_is_of_xbond;
}

int __wrap_attach_replace(const struct attach_point *point, int program_fd, struct err *err)
{
	replaced++;
	return 0;
}

int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link)
{
	return 0;
}

bool __wrap_pins_keep(struct bond *of)
{
	assert_ptr_equal(of, &bond);
	return true;
}

void __wrap_event_tell(const struct event *event, const char *format, ...)
{
	told++;
}

bool __wrap_upgrade_is_due(const struct dataplane *dataplane)
{
	assert_ptr_equal(dataplane, &bond.dataplane);
	return true;
}

int __wrap_upgrade_to(struct dataplane *dataplane, bool asks, const char *why, struct err *err)
{
	loaded++;
	return path_refused;
}

int __wrap_dataplane_open_programs(struct dataplane *dataplane, struct err *err)
{
	return 0;
}

static int note_put_back(const struct attach_place *place, struct err *err)
{
	put_back++;
	return 0;
}

static void check(enum xbond_hook hook)
{
	struct attach_place place = {
		.bond = &bond,
		.slot = SLOT,
		.point.hook = hook,
		.device = "eth0",
		.put_back = note_put_back,
	};

	attach_check_place(&place);
}

static int setup(void **state)
{
	bond_begin(&pair_part);
	pin.state = XBOND_BOND_READY;
	bond.is_running = true;
	pinned = seen = OURS;
	is_there = 1;
	seen_is_of_xbond = false;
	replaced = put_back = told = loaded = 0;
	path_refused = 0;
	return 0;
}

TEST(what_is_taken_off_is_put_back, setup, bond_end)
{
	check(XBOND_HOOK_TCX);
	assert_int_equal(put_back, 0);
	seen = is_there = 0;
	check(XBOND_HOOK_TCX);
	check(XBOND_HOOK_CLSACT);
	assert_int_equal(put_back, 2);
	assert_int_equal(told, 2);
	assert_int_equal(attached.detached[SLOT], 2);
	seen = OURS + 1;
	check(XBOND_HOOK_TCX);
	assert_int_equal(replaced, 1);
	assert_int_equal(attached.detached[SLOT], 3);
}

/* The kernel had no memory, or bondd no descriptors. */
TEST(a_query_that_fails_says_nothing, setup, bond_end)
{
	seen = 0;
	is_there = -ENOMEM;
	check(XBOND_HOOK_TCX);
	check(XBOND_HOOK_CLSACT);
	is_there = 1;
	check(XBOND_HOOK_CLSACT);
	seen = OURS;
	pinned = 0;
	check(XBOND_HOOK_TCX);
	assert_int_equal(put_back, 0);
	assert_int_equal(replaced, 0);
	assert_int_equal(told, 0);
	assert_int_equal(attached.detached[SLOT], 0);
}

/* The programs of this build were refused when bondd began, and taken later. */
TEST(a_program_of_another_build_is_replaced_without_words, setup, bond_end)
{
	seen = OURS + 1;
	seen_is_of_xbond = true;
	check(XBOND_HOOK_TCX);
	assert_int_equal(replaced, 1);
	assert_int_equal(told, 0);
	assert_int_equal(attached.detached[SLOT], 0);
}

/* Every two seconds; the verifier takes a good part of one. */
static unsigned int loads_within(unsigned int seconds)
{
	loaded = 0;
	for (unsigned int i = 0; i < seconds; i += 2, now_ns += 2 * NS_PER_S)
		pair_part.settle_bond(&bond, NEWS_TIME);
	return loaded;
}

TEST(programs_that_the_kernel_refuses_are_not_loaded_all_the_time, setup, bond_end)
{
	assert_int_equal(loads_within(600), 300);
	path_refused = -EACCES;
	assert_in_range(loads_within(600), 10, 20);
	path_refused = 0;
	assert_in_range(loads_within(60), 1, 30);
	assert_int_equal(loads_within(600), 300);
}
