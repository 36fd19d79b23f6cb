/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/device/fail_over_mac.h"

#include <string.h>

#include "common/mac.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/slave/slave_rx.h"
#include "daemon/slave/slave.h"

/* With mac_policy filter, the slaves have it in their filters. */
static void fail_over_mac_take(struct bond *bond, const struct xbond_slave *active)
{
	struct xbond_bond *pin = bond_pin(bond);
	char text[MAC_FORMAT_SIZE];
	struct err err;

	if (!memcmp(pin->mac, active->mac, XBOND_MAC_SIZE))
		return;
	if (device_set_mac(bond, active->mac, &err)) {
		event_error(pin->name, active->name, "cannot take the MAC address of %s: %s",
			    active->name, err.text);
		return;
	}
	event_notice(pin->name, active->name, "MAC address is now %s, that of %s",
		     mac_format(pin->mac, text), active->name);
	bond_for_each_member (bond, slot)
		if (slave_mac_set(bond, slot, &err))
			event_warning(pin->name, NULL, "%s", err.text);
}

static void fail_over_mac_settle(struct bond *bond)
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
	slave_rx_skip_backlog_all(bond);
}

void fail_over_mac_follow(struct bond *bond)
{
	if (!bond->evaluation.macs_due || bond->evaluation.plan_due)
		return;
	bond->evaluation.macs_due = false;
	fail_over_mac_settle(bond);
	bond_announce_failover(bond);
}

void fail_over_mac_recall(struct bond *bond)
{
	bond->evaluation.macs_due = bond_fail_over_mac(bond_pin(bond)) != XBOND_FAIL_OVER_MAC_NONE;
}

static int fail_over_mac_on_event(sd_event_source *source, void *arg)
{
	(void)source;
	latency_note("fail_over_mac");
	fail_over_mac_follow(arg);
	return 0;
}

int fail_over_mac_start(struct bond *bond)
{
	int r = sd_event_add_defer(bond->daemon->event, &bond->fail_over_mac,
				   fail_over_mac_on_event, bond);

	return r < 0 ? r : sd_event_source_set_enabled(bond->fail_over_mac, SD_EVENT_OFF);
}

void fail_over_mac_stop(struct bond *bond)
{
	bond->fail_over_mac = sd_event_source_disable_unref(bond->fail_over_mac);
}
