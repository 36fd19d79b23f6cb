/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/if_ether.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/base/worker.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/device/device.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"

#define NAME_TRIES 100

struct new_mac {
	int ifindex;
	const uint8_t *mac;
};

static int values_change_mac(struct nl *nl, const void *arg)
{
	const struct new_mac *new = arg;

	return link_set_mac(nl, new->ifindex, new->mac, NULL);
}

int device_set_mac(struct bond *bond, const uint8_t *mac, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	const struct new_mac new = { .ifindex = (int)pin->ifindex, .mac = mac };
	int r;

	r = netns_call(&bond->daemon->nl, pin->netnsid, values_change_mac, &new, err);
	crashpoint("bond-mac-set");
	if (!r)
		memcpy(pin->mac, mac, XBOND_MAC_SIZE);
	return r;
}

void device_take_back_mac(struct bond *bond)
{
	int r = device_set_mac(bond, bond_pin(bond)->random_mac, NULL);

	bond->device.mac_is_lent = r == -EIO; /* the kernel has not refused it */
	if (!r)
		bond_evaluate(bond);
}

/* A slave that has gone does not refuse it. The message about that may not have been read yet. */
static int values_answer(struct bond *bond, unsigned int slot, int r)
{
	struct link_info link;

	return r && slave_find_device(bond, slot, &link) == -ENODEV ? 0 : r;
}

/* Returns -errno of the first slave that refuses it. */
static int values_offer_mac(struct bond *bond, const uint8_t *mac, struct err *err)
{
	int r = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++)
		if (bond_is_member(bond, slot))
			r = values_answer(bond, slot, slave_mac_offer(bond, slot, mac, err));
	return r;
}

void device_give_mac(struct bond *bond)
{
	struct err err;

	bond_for_each_member (bond, slot)
		if (values_answer(bond, slot, slave_mac_set(bond, slot, &err)))
			event_warning(bond_pin(bond)->name, NULL, "%s", err.text);
}

static void values_put_back_mac(struct bond *bond)
{
	uint8_t mac[XBOND_MAC_SIZE];
	struct err err;

	memcpy(mac, bond_pin(bond)->mac, XBOND_MAC_SIZE);
	if (device_set_mac(bond, mac, &err))
		event_warning(bond_pin(bond)->name, NULL, "cannot restore its MAC address: %s",
			      err.text);
}

/* With fail_over_mac active, bond0 has the address of the active slave, and no other. */
static bool values_forbid_mac(struct bond *bond, const uint8_t *mac)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return bond_fail_over_mac(pin) == XBOND_FAIL_OVER_MAC_ACTIVE &&
	       pin->active_slot < XBOND_MAX_SLAVES &&
	       !mac_is_same(bond_slave(bond, pin->active_slot)->mac, mac);
}

void device_hear_mac(struct bond *bond, const uint8_t *mac)
{
	struct xbond_bond *pin = bond_pin(bond);
	char text[MAC_FORMAT_SIZE];
	struct mac_swap before;
	struct err err;

	if (mac_is_same(pin->mac, mac))
		return;
	if (values_forbid_mac(bond, mac)) {
		event_notice(pin->name, NULL,
			     "MAC address is put back to %s: fail_over_mac is active",
			     mac_format(pin->mac, text));
		values_put_back_mac(bond);
		return;
	}
	mac_swap_rename(bond, mac, &before);
	crashpoint("mac-taken");
	if (values_offer_mac(bond, mac, &err)) {
		event_warning(pin->name, NULL, "%s; the bond goes back to %s", err.text,
			      mac_format(pin->mac, text));
		mac_swap_put_back(bond, &before);
		device_give_mac(bond);
		values_put_back_mac(bond);
	} else {
		memcpy(pin->mac, mac, XBOND_MAC_SIZE);
		event_notice(pin->name, NULL, "MAC address is now %s", mac_format(mac, text));
	}
	bond_evaluate(bond); /* LACP sends it as the system's address */
	mac_swap_tell(bond);
}

static int values_set_mtu(struct nl *nl, const void *arg)
{
	const struct xbond_bond *pin = arg;

	return link_set_mtu(nl, (int)pin->ifindex, pin->mtu, NULL);
}

/*
 * Many drivers take no large frames by XDP, and not all of those refuse the MTU. `auto` yields to
 * any MTU that is not small, and asks for XDP again when all slaves have it; `xdp` does not.
 */
static int values_offer_mtu(struct bond *bond, unsigned int slot, uint32_t mtu, struct err *err)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct err why;
	int r;

	if (mtu > pin->mtu && mtu > ETH_DATA_LEN && slave->rx_hook == XBOND_RX_XDP &&
	    pin->rx_hook == XBOND_RX_AUTO)
		xdp_yield(bond, slot);
	quality_excuse(bond, slot);
	r = link_set_mtu(&bond->daemon->nl, (int)slave->ifindex, mtu, &why);
	crashpoint("mtu-changed");
	if (r && slave->rx_hook == XBOND_RX_XDP)
		return err_set(
			err, -r,
			"%s does not take MTU %u while it receives through XDP (%s; 'bondctl set "
			"%s rx_hook auto' allows it)",
			slave->name, mtu, why.text, pin->name);
	return r ? err_set(err, -r, "%s does not take MTU %u (%s)", slave->name, mtu, why.text) : 0;
}

static int values_offer_mtu_to_all(struct bond *bond, uint32_t mtu, struct err *err)
{
	int r = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++)
		if (bond_is_member(bond, slot))
			r = values_answer(bond, slot, values_offer_mtu(bond, slot, mtu, err));
	return r;
}

static void values_take_back_mtu(struct bond *bond, const char *why)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	struct err err;

	event_warning(pin->name, NULL, "%s; the bond goes back to %u", why, pin->mtu);
	bond_for_each_member (bond, slot) {
		quality_excuse(bond, slot);
		link_set_mtu(nl, (int)bond_slave(bond, slot)->ifindex, pin->mtu, NULL);
	}
	if (netns_call(nl, pin->netnsid, values_set_mtu, pin, &err))
		event_warning(pin->name, NULL, "cannot restore its MTU: %s", err.text);
}

void device_hear_mtu(struct bond *bond, uint32_t mtu)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct err err;

	if (pin->mtu == mtu)
		return;
	if (values_offer_mtu_to_all(bond, mtu, &err)) {
		values_take_back_mtu(bond, err.text);
	} else {
		pin->mtu = mtu;
		event_notice(pin->name, NULL, "MTU is now %u", mtu);
	}
	rx_turn_ask_again(bond);
}

void device_hear_port_mtu(struct bond *bond, uint32_t mtu, uint32_t bond_mtu)
{
	const struct xbond_bond *pin = bond_pin(bond);
	bool told = bond->device.port_is_short;
	struct err err;

	bond->device.port_is_short =
		mtu < bond_mtu &&
		link_set_mtu(&bond->daemon->nl, (int)pin->port_ifindex, PORT_MTU, &err);
	if (bond->device.port_is_short && !told)
		event_warning(pin->name, NULL,
			      "packets longer than %u are lost, because somebody has given %s this "
			      "MTU, and it cannot be put back: %s",
			      mtu, pin->port_name, err.text);
	else if (mtu < bond_mtu && !bond->device.port_is_short)
		event_notice(pin->name, NULL, "MTU of %s is put back to %u", pin->port_name,
			     PORT_MTU);
}

int device_port_name(struct nl *nl, const char *bond_name, const char *now,
		     char ret_name[XBOND_NAME_SIZE], struct err *err)
{
	struct link_info link;

	snprintf(ret_name, XBOND_NAME_SIZE, "xb-%.12s", bond_name);
	for (unsigned int i = 1; i < NAME_TRIES; i++) {
		if (!strcmp(ret_name, now) || link_get_by_name(nl, ret_name, &link))
			return 0;
		snprintf(ret_name, XBOND_NAME_SIZE, "xb-%.9s~%u", bond_name, i % NAME_TRIES);
	}
	return err_set(err, EEXIST, "no free name for the port side of %s", bond_name);
}

/* Kernels before 6.2 do not rename a device that is up; there, the alias has the name. */
void device_name_port(struct bond *bond, const struct link_info *port)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	char name[XBOND_NAME_SIZE], alias[64];

	snprintf(alias, sizeof(alias), BOND_PORT_ALIAS "%s", pin->name);
	if (!port || (bond_is_port_side(port) && strcmp(port->alias, alias)))
		link_set_alias(nl, (int)pin->port_ifindex, alias, NULL);
	if (!device_port_name(nl, pin->name, pin->port_name, name, NULL) &&
	    strcmp(name, pin->port_name) != 0 &&
	    !link_set_name(nl, (int)pin->port_ifindex, name, NULL))
		memcpy(pin->port_name, name, XBOND_NAME_SIZE);
}

/* With mac_policy filter, the slaves have it in their filters. */
static void fail_over_mac_take(struct bond *bond, const struct xbond_slave *active)
{
	struct xbond_bond *pin = bond_pin(bond);
	char text[MAC_FORMAT_SIZE];
	struct err err;

	if (mac_is_same(pin->mac, active->mac))
		return;
	if (device_set_mac(bond, active->mac, &err)) {
		if (!bond->evaluation.macs_retry.pause_ns)
			event_error(pin->name, active->name,
				    "cannot take the MAC address of %s: %s", active->name,
				    err.text);
		return;
	}
	event_notice(pin->name, active->name, "MAC address is now %s, that of %s",
		     mac_format(pin->mac, text), active->name);
	device_give_mac(bond);
}

static void fail_over_mac_change(struct bond *bond)
{
	unsigned int active = bond_pin(bond)->active_slot;
	enum xbond_fail_over_mac policy = bond_fail_over_mac(bond_pin(bond));

	if (policy == XBOND_FAIL_OVER_MAC_NONE || active >= XBOND_MAX_SLAVES ||
	    !bond_is_member(bond, active))
		return;
	if (policy == XBOND_FAIL_OVER_MAC_ACTIVE)
		fail_over_mac_take(bond, bond_slave(bond, active));
	else
		mac_swap_settle(bond);
	mac_swap_tell(bond);
}

/* At the failover a slave may not have taken the address that it was to have. */
static bool fail_over_mac_is_left(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (bond_fail_over_mac(pin) == XBOND_FAIL_OVER_MAC_NONE ||
	    pin->active_slot >= XBOND_MAX_SLAVES || !bond_is_member(bond, pin->active_slot))
		return false;
	return !mac_is_same(bond_slave(bond, pin->active_slot)->mac, pin->mac) ||
	       mac_swap_is_half(bond);
}

void fail_over_mac_settle(struct bond *bond)
{
	if (!bond->evaluation.macs_due || bond->evaluation.plan_due)
		return;
	bond->evaluation.macs_due = false;
	bond->evaluation.macs_retry = (struct retry){ 0 };
	fail_over_mac_change(bond);
	if (fail_over_mac_is_left(bond))
		retry_later(&bond->evaluation.macs_retry);
	bond_announce_failover(bond);
}

void fail_over_mac_recall(struct bond *bond)
{
	bond->evaluation.macs_due = bond_fail_over_mac(bond_pin(bond)) != XBOND_FAIL_OVER_MAC_NONE;
}

/* Of a bond: the next turn of the main loop, while something is due. */
static sd_event_source **fail_over_mac_turn(struct bond *bond)
{
	return part_of_bond(bond, &fail_over_mac_part);
}

static int fail_over_mac_on_event(sd_event_source *source, void *arg)
{
	latency_note("fail_over_mac");
	fail_over_mac_settle(arg);
	return 0;
}

static int fail_over_mac_start(struct bond *bond)
{
	return loop_defer(bond->daemon->event, fail_over_mac_on_event, bond,
			  fail_over_mac_turn(bond));
}

static void fail_over_mac_decided(struct bond *bond, bool has_new_active)
{
	sd_event_source *turn = *fail_over_mac_turn(bond);

	if (turn && bond->evaluation.macs_due && !bond->evaluation.plan_due)
		sd_event_source_set_enabled(turn, SD_EVENT_ONESHOT);
}

static void fail_over_mac_stop(struct bond *bond, bool is_over)
{
	sd_event_source **turn = fail_over_mac_turn(bond);

	*turn = sd_event_source_disable_unref(*turn);
}

static bool fail_over_mac_hear(struct bond *bond, unsigned int slot, enum part_news news,
			       const struct link_info *link, bool gone)
{
	struct retry *retry = &bond->evaluation.macs_retry;

	if (fail_over_mac_is_left(bond))
		return clock_now_ns() >= retry->next_ns;
	*retry = (struct retry){ 0 };
	return false;
}

/* The failover was announced with the addresses that there were then. */
static void fail_over_mac_retry(struct bond *bond, uint32_t news)
{
	if (bond->evaluation.macs_due || bond->evaluation.plan_due || !fail_over_mac_is_left(bond))
		return;
	fail_over_mac_change(bond);
	if (fail_over_mac_is_left(bond)) {
		retry_later(&bond->evaluation.macs_retry);
		return;
	}
	bond_pin(bond)->announce_due = true;
	bond_announce_failover(bond);
}

struct part fail_over_mac_part = {
	.bond_size = sizeof(sd_event_source *),
	.hears = NEWS_TIME,
	.hear = fail_over_mac_hear,
	.settle_bond = fail_over_mac_retry,
	.start = fail_over_mac_start,
	.decided = fail_over_mac_decided,
	.stop = fail_over_mac_stop,
};
