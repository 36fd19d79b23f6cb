/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daemon/slave/slave_mac.c, and what gives slaves an address or MTU, on devices that refuse what
 * devices in tests/net take, or go at any moment.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/manage/requests.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "network/nl.h"
#include "tests/unit/unit.h"

#define SLAVES 3

static uint64_t now_ns;
static struct xbond_slave slaves[XBOND_MAX_SLAVES];
static struct xbond_bond pin;
static struct daemon host;
static struct bond bond = { .daemon = &host, .dataplane.pins = { .bond = &pin, .slaves = slaves } };
/* The slaves' devices, and then bond0; the number of each is its place here, and 1. */
static struct device {
	struct link_info link;
	/* -errno of what asks for it, or changes it */
	int unseen, mac_refused, up_refused;
	bool is_stiff; /* it takes an address only while it is down */
	bool is_worn;  /* it takes one more address */
	unsigned int downs;
} devices[SLAVES + 1];

int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link);
int __wrap_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
void __wrap_bond_evaluate(struct bond *of);
int __wrap_xdp_settle_tx(struct bond *of, struct err *err);

static struct device *device_of(int ifindex)
{
	assert_in_range(ifindex, 1, SLAVES + 1);
	return &devices[ifindex - 1];
}

int __wrap_link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link)
{
	assert_ptr_equal(nl, &host.nl);
	assert_int_equal(nsid, -1);
	*ret_link = device_of(ifindex)->link;
	return device_of(ifindex)->unseen;
}

static int device_take_mac(struct device *device, const uint8_t *mac)
{
	if (device->mac_refused)
		return device->mac_refused;
	if (device->is_stiff && device->link.flags & IFF_UP)
		return -EBUSY;
	memcpy(device->link.mac, mac, XBOND_MAC_SIZE);
	if (device->is_worn)
		device->mac_refused = -EIO;
	return 0;
}

static int device_change(struct nlmsghdr *request)
{
	const struct ifinfomsg *info = nlmsg_data(request);
	const struct nlattr *mac = nlmsg_find_attr(request, sizeof(*info), IFLA_ADDRESS),
			    *mtu = nlmsg_find_attr(request, sizeof(*info), IFLA_MTU);
	struct device *device = device_of(info->ifi_index);

	if (device->unseen)
		return device->unseen;
	if (info->ifi_flags & IFF_UP && device->up_refused)
		return device->up_refused;
	device->downs += info->ifi_change & ~info->ifi_flags & IFF_UP ? 1 : 0;
	device->link.flags = (device->link.flags & ~info->ifi_change) | info->ifi_flags;
	if (mtu)
		device->link.mtu = nla_get_u32(mtu);
	return mac ? device_take_mac(device, nla_data(mac)) : 0;
}

/* The kernel. Filters take every address. */
int __wrap_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err)
{
	struct nlmsghdr *request = nlmsg_hdr(msg);
	int r = request->nlmsg_type == RTM_NEWLINK ? device_change(request) : 0;

	assert_ptr_equal(nl, &host.nl);
	nlmsg_free(msg);
	return r ? err_set(err, -r, "it does not") : 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	*ret_now = (struct timespec){ .tv_sec = (time_t)(now_ns / NS_PER_S) };
	return 0;
}

void __wrap_bond_evaluate(struct bond *of)
{
	assert_ptr_equal(of, &bond);
}

int __wrap_xdp_settle_tx(struct bond *of, struct err *err)
{
	return 0;
}

/* The last byte says whose it is: 0 the bond's, and 1 and more the slaves' own ones. */
static void name_mac(uint8_t *mac, uint8_t whose)
{
	const uint8_t made[XBOND_MAC_SIZE] = { 0x02, 0, 0, 0, 0, whose };

	memcpy(mac, made, sizeof(made));
}

static void assert_mac(const uint8_t *mac, uint8_t whose)
{
	uint8_t expected[XBOND_MAC_SIZE];

	name_mac(expected, whose);
	assert_memory_equal(mac, expected, XBOND_MAC_SIZE);
}

static void give_mac(unsigned int slot, uint8_t whose)
{
	name_mac(slaves[slot].mac, whose);
	name_mac(devices[slot].link.mac, whose);
}

/* The first of three slaves that are up is the active one, and has the bond's address. */
static int setup(void **state)
{
	static struct part *const table[] = { &mac_part, &rx_turn_part, &fail_over_mac_part,
					      &quality_part };

	memset(slaves, 0, sizeof(slaves));
	memset(devices, 0, sizeof(devices));
	bond.evaluation = (struct bond_evaluation){ 0 };
	pin = (struct xbond_bond){ .name = "bond0",
				   .ifindex = SLAVES + 1,
				   .netnsid = -1,
				   .mode = XBOND_MODE_ACTIVE_BACKUP,
				   .state = XBOND_BOND_READY };
	name_mac(pin.mac, 0);
	for (unsigned int slot = 0; slot < SLAVES; slot++) {
		slaves[slot].ifindex = slot + 1;
		slaves[slot].state = XBOND_SLOT_MEMBER;
		snprintf(slaves[slot].name, sizeof(slaves[slot].name), "l%u", slot);
		name_mac(slaves[slot].before.mac, (uint8_t)(slot + 1));
		devices[slot].link = (struct link_info){ .ifindex = (int)slot + 1,
							 .flags = IFF_UP,
							 .has_mac = true };
		give_mac(slot, (uint8_t)(slot ? slot + 1 : 0));
	}
	parts_init(table, sizeof(table) / sizeof(table[0]));
	parts_new(&bond);
	return 0;
}

static int teardown(void **state)
{
	parts_free(&bond);
	return 0;
}

/* As after a bondd that died: two slaves have one address, and one of them keeps it. */
TEST(what_a_slave_has_after_a_refusal_is_known, setup, teardown)
{
	pin.fail_over_mac = XBOND_FAIL_OVER_MAC_FOLLOW;
	give_mac(1, 3);
	devices[1].mac_refused = devices[2].mac_refused = -EBUSY;
	mac_swap_settle(&bond);
	assert_mac(slaves[1].mac, 3);
	assert_true(mac_swap_is_half(&bond));
	/* Nobody takes it for a change by somebody else, and gives it the bond's address. */
	assert_false(mac_part.hear(&bond, 1, NEWS_SLAVE, &devices[1].link, false));
	devices[1].mac_refused = 0;
	mac_swap_settle(&bond);
	assert_mac(devices[1].link.mac, 2);
	assert_false(mac_swap_is_half(&bond));
}

TEST(a_slave_that_nobody_sees_may_have_the_address_of_the_bond, setup, teardown)
{
	pin.fail_over_mac = XBOND_FAIL_OVER_MAC_FOLLOW;
	give_mac(1, 0);
	devices[1].unseen = -ENOBUFS;
	mac_swap_settle(&bond);
	assert_true(mac_swap_is_half(&bond));
	devices[1].unseen = 0;
	mac_swap_settle(&bond);
	assert_mac(devices[1].link.mac, 2);
	assert_false(mac_swap_is_half(&bond));
}

/* Returns whether there was something to do. */
static bool time_passes(unsigned int seconds)
{
	bool is_due;

	now_ns += seconds * NS_PER_S;
	parts_hear(&bond, PART_BOND, NEWS_TIME, NULL, false);
	is_due = parts_are_due(&bond);
	assert_false(parts_settle(&bond, UINT64_MAX));
	return is_due;
}

/* It goes down for its address, and its driver needs a while until it is up again. */
TEST(a_slave_that_did_not_come_up_again_is_brought_up, setup, teardown)
{
	devices[1].is_stiff = true;
	devices[1].up_refused = -EIO;
	assert_int_equal(slave_mac_set(&bond, 1, NULL), 0);
	assert_mac(devices[1].link.mac, 0);
	assert_mac(slaves[1].mac, 0);
	assert_true(time_passes(2));
	assert_false(devices[1].link.flags & IFF_UP);
	devices[1].up_refused = 0;
	assert_true(time_passes(2));
	assert_true(devices[1].link.flags & IFF_UP);
	/* An administrator may set it down then. */
	devices[1].link.flags = 0;
	assert_false(time_passes(2));
}

TEST(a_slave_that_did_not_come_up_again_is_not_added, setup, teardown)
{
	struct err err;

	slaves[1].state = XBOND_SLOT_ENSLAVING;
	devices[1].is_stiff = true;
	devices[1].up_refused = -EIO;
	assert_int_equal(mac_part.enslave(&bond, 1, &err), -EIO);
}

TEST(a_slave_that_took_its_address_may_be_set_down, setup, teardown)
{
	devices[1].is_stiff = true;
	assert_int_equal(slave_mac_set(&bond, 1, NULL), 0);
	assert_mac(devices[1].link.mac, 0);
	assert_true(devices[1].link.flags & IFF_UP);
	assert_false(time_passes(2));
}

/* Somebody has given bond0 an address. */
static void hear_mac(uint8_t whose)
{
	name_mac(devices[SLAVES].link.mac, whose);
	device_hear_mac(&bond, devices[SLAVES].link.mac);
}

/* bond0 and a slave change at once: what bond0 is now is seen before what the slave is. */
TEST(a_slave_that_has_gone_refuses_nothing, setup, teardown)
{
	devices[1].unseen = -ENODEV;
	hear_mac(9);
	assert_mac(pin.mac, 9);
	assert_mac(devices[2].link.mac, 9);
	device_hear_mtu(&bond, 1400);
	assert_int_equal(pin.mtu, 1400);
	assert_int_equal(devices[2].link.mtu, 1400);
}

static void give_macs(void)
{
	host.bonds = &bond;
	for (unsigned int slot = 0; slot < SLAVES; slot++)
		give_mac(slot, 0);
}

/* The last slave refuses what is new, and the first one what it had. */
TEST(a_slave_that_does_not_go_back_does_so_alone, setup, teardown)
{
	give_macs();
	devices[0].is_worn = true;
	devices[2].mac_refused = -EBUSY;
	hear_mac(9);
	/* As the next bondd does. */
	for (int i = 0; i < 2; i++) {
		assert_mac(pin.mac, 0);
		assert_mac(devices[SLAVES].link.mac, 0);
		assert_mac(devices[0].link.mac, 9);
		assert_mac(slaves[0].mac, 9);
		assert_mac(devices[1].link.mac, 0);
		device_give_mac(&bond);
	}
}

/* The first of the two that exchange their addresses has done so already, and the other has not. */
TEST(what_a_bondd_that_died_has_begun_is_finished, setup, teardown)
{
	pin.fail_over_mac = XBOND_FAIL_OVER_MAC_FOLLOW;
	give_mac(0, 2);
	name_mac(slaves[1].mac, 0);
	hear_mac(2);
	mac_swap_settle(&bond);
	assert_mac(pin.mac, 2);
	for (unsigned int slot = 0; slot < SLAVES; slot++)
		assert_memory_equal(slaves[slot].mac, devices[slot].link.mac, XBOND_MAC_SIZE);
	assert_mac(devices[0].link.mac, 2);
	assert_mac(devices[1].link.mac, 0);
	assert_mac(devices[2].link.mac, 3);
}

/* Each slave is to get back its own address, and the last one refuses. */
static void ask_for_filters(struct err *ret_err)
{
	struct option_set options = { .given[OPT_MAC_POLICY] = true };

	options.value[OPT_MAC_POLICY].number = XBOND_MAC_FILTER;
	devices[2].mac_refused = -EBUSY;
	assert_int_equal(request_set(&host, "bond0", &options, ret_err), -EBUSY);
}

/* One slave does not take what is new, and another one not what it had. */
TEST(what_cannot_be_undone_is_said, setup, teardown)
{
	struct err err;

	give_macs();
	ask_for_filters(&err);
	assert_non_null(strstr(err.text, "l2 does not take"));
	assert_null(strstr(err.text, "undone"));
	assert_mac(devices[1].link.mac, 0);
	devices[0].is_worn = true;
	ask_for_filters(&err);
	assert_non_null(strstr(err.text, "l2 does not take"));
	assert_non_null(strstr(err.text, "; but not everything could be undone: l0 does not take"));
	assert_mac(devices[1].link.mac, 0);
}

/* Nothing but time tells that it would take the address now. It is not taken down for it again. */
TEST(a_slave_that_has_refused_is_asked_again, setup, teardown)
{
	struct err err;

	give_macs();
	devices[0].is_worn = true;
	ask_for_filters(&err);
	assert_mac(devices[0].link.mac, 1);
	devices[0].mac_refused = -EBUSY;
	assert_false(time_passes(0));
	assert_true(time_passes(1));
	assert_mac(devices[0].link.mac, 1);
	assert_int_equal(devices[0].downs, 0);
	devices[0].mac_refused = 0;
	assert_false(time_passes(1));
	assert_true(time_passes(1));
	assert_mac(devices[0].link.mac, 0);
	assert_mac(slaves[0].mac, 0);
	assert_false(time_passes(60));
}

static unsigned int told;

static void count_told(void)
{
	told++;
}

/* Of two that exchange their addresses; somebody may read the log for days. */
TEST(that_a_slave_refuses_is_told_once, setup, teardown)
{
	pin.fail_over_mac = XBOND_FAIL_OVER_MAC_FOLLOW;
	give_mac(1, 3);
	devices[1].mac_refused = devices[2].mac_refused = -EBUSY;
	told = 0;
	event_listen(count_told);
	for (int i = 0; i < 5; i++)
		assert_true(time_passes(120));
	assert_int_equal(told, 2);
	/* At the next failover it is told again. */
	bond.evaluation.macs_due = true;
	fail_over_mac_settle(&bond);
	assert_true(time_passes(120));
	assert_int_equal(told, 4);
	event_listen(NULL);
}

/* Every try to release it asks again, and by then somebody else may use it. */
TEST(a_slave_that_refuses_its_own_address_goes_down_once, setup, teardown)
{
	const struct place place = { .nl = &host.nl, .ifindex = 2 };
	const struct place stiff = { .nl = &host.nl, .ifindex = 3 };

	give_macs();
	slaves[1].state = XBOND_SLOT_RELEASING;
	devices[1].mac_refused = -EBUSY;
	for (int i = 0; i < 3; i++)
		assert_int_equal(mac_part.restore(&bond, 1, &place, NULL), -EBUSY);
	assert_int_equal(devices[1].downs, 1);
	assert_true(devices[1].link.flags & IFF_UP);
	devices[1].mac_refused = 0;
	assert_int_equal(mac_part.restore(&bond, 1, &place, NULL), 1);
	assert_mac(devices[1].link.mac, 2);
	assert_int_equal(mac_part.restore(&bond, 1, &place, NULL), 0);
	devices[2].is_stiff = true;
	assert_int_equal(mac_part.restore(&bond, 2, &stiff, NULL), 1);
	assert_mac(devices[2].link.mac, 3);
}
