/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/slave/xdp_hooks.c where libxdp does not answer, or a pin is not what it should be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/worker.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "tests/unit/one_bond.h"

static int libxdp; /* its answer */
static int link_refused;

int __wrap_child_run(int (*work)(const void *arg), const void *arg, int keep_fd)
{
	return libxdp;
}

/* The dispatcher is the same all the time. */
int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link)
{
	*ret_link = (struct link_info){ .ifindex = ifindex, .xdp_id = 17 };
	return link_refused;
}

bool __wrap_link_is_veth(struct nl *nl, int ifindex)
{
	return false;
}

/* As the kernel answers to a path that is no pin. */
int __wrap_bpf_obj_get(const char *path)
{
	return access(path, F_OK) ? -ENOENT : -EACCES;
}

static int setup(void **state)
{
	bond_begin(&xdp_part);
	pin.rx_hook = XBOND_RX_XDP;
	now_ns = NS_PER_S;
	return 0;
}

static void time_passes(unsigned int seconds)
{
	now_ns += seconds * NS_PER_S;
	xdp_part.settle(&bond, 0, NEWS_TIME);
}

/* bondd begins while somebody has libxdp's lock, who takes its program out of the dispatcher. */
TEST(a_program_that_nobody_has_seen_is_looked_for, setup, bond_end)
{
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

TEST(a_directory_in_place_of_a_pin_is_told, setup, bond_end)
{
	char *dir = bond.dataplane.pins.dir, path[PIN_PATH_SIZE];
	struct err err;

	strcpy(dir, "/tmp/xbond-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(xdp_settle_tx(&bond, &err), 0);
	pin_path(path, dir, XBOND_PIN_LINK_XDP_TX);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(xdp_settle_tx(&bond, &err), -EISDIR);
	rmdir(path);
	rmdir(dir);
}

/* A veth has another program than a NIC. */
TEST(what_cannot_be_read_gets_no_program, setup, bond_end)
{
	struct err err;

	slaves[0] = (struct xbond_slave){ .name = "l0", .ifindex = 2, .state = XBOND_SLOT_MEMBER };
	link_refused = -ENOMEM;
	assert_int_equal(xdp_settle_slave(&bond, 0, &err), -EBUSY);
	link_refused = 0;
	assert_int_equal(slaves[0].rx_hook, XBOND_RX_TC);
	assert_int_equal(slaves[0].before.flags & XBOND_SLAVE_XDP_REFUSED, 0);
}
