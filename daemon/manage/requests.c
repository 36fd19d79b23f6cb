/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests about bonds. requests_slaves.c has those about slaves. */
#include "daemon/manage/requests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "options/names.h"
#include "options/option_set.h"
#include "options/values.h"
#include "view/view_json.h"

int request_refuse_absent(struct daemon *daemon, const char *name, struct err *err)
{
	int r = lifecycle_check_ending(daemon, name, err);

	if (!r && !name_check("bond", name, NULL))
		r = lifecycle_check_pins(daemon, name, err);
	return r ? r
		 : err_set(err, ENOENT, "no such bond: %s ('bondctl list' lists the bonds)", name);
}

int request_find(struct daemon *daemon, const char *name, struct bond **ret_bond, struct err *err)
{
	if (daemon_is_unadopted(daemon, name))
		adopt_again(daemon);
	*ret_bond = daemon_find_bond(daemon, name);
	return *ret_bond ? 0 : request_refuse_absent(daemon, name, err);
}

int request_check_free(struct daemon *daemon, const char *name, struct err *err)
{
	struct bond *bond = daemon->bonds;

	while (bond && (!bond->handed_over[0] || (strcmp(bond->handed_over, name) != 0 &&
						  strcmp(bond_pin(bond)->name, name) != 0)))
		bond = bond->next;
	return bond ? err_set(err, EBUSY, PINS_HANDED_OVER, name) : 0;
}

int request_create(struct daemon *daemon, const char *name, const struct option_set *options,
		   struct err *err)
{
	struct xbond_settings settings = { 0 };
	struct xbond_bond bond = { 0 };
	int r;

	values_fill(&bond, &settings, options);
	r = option_set_check_mode(options, bond.mode, err);
	if (!r)
		r = option_set_check_device(options, &bond, err);
	if (!r)
		r = option_together_check(&bond, err);
	if (!r && options->given[OPT_ACTIVE_SLAVE] && options->value[OPT_ACTIVE_SLAVE].name[0])
		r = err_set(err, EINVAL,
			    "active_slave: the bond has no slaves yet; set it when it has");
	if (r)
		return r;
	if (strlen(name) < sizeof(bond.name))
		memcpy(bond.name, name, strlen(name));
	else
		return err_set(err, EINVAL, "bond name too long: %zu characters, at most %zu",
			       strlen(name), sizeof(bond.name) - 1);
	return lifecycle_create(daemon, &bond, &settings, err);
}

int request_delete(struct daemon *daemon, const char *name, struct err *err)
{
	int r = lifecycle_delete_again(daemon, name, err);
	struct bond *bond;

	if (r != -ENOENT)
		return r;
	r = request_find(daemon, name, &bond, err);
	if (!r)
		r = lifecycle_delete(bond, err);
	if (!daemon_find_bond(daemon, name))
		awaited_try_soon(daemon);
	return r;
}

/* mac_policy changes the slaves, and so does a mode in which fail_over_mac is something else. */
static bool request_changes_macs(const struct xbond_bond *a, const struct xbond_bond *b)
{
	return a->mac_policy != b->mac_policy || bond_fail_over_mac(a) != bond_fail_over_mac(b);
}

/* err: why, to which is added what could not be taken back. */
static void request_take_back_macs(struct bond *bond, const struct xbond_bond *before,
				   struct err *err)
{
	const struct err refusal = *err;
	struct err why;

	if (!request_changes_macs(bond_pin(bond), before))
		return;
	bond_pin(bond)->mac_policy = before->mac_policy;
	bond_pin(bond)->mode = before->mode;
	bond_for_each_member (bond, slot)
		if (slave_mac_set(bond, slot, &why))
			err_set(err, 0,
				"%s; but not everything could be undone: %s; bondd tries it again",
				refusal.text, why.text);
}

/* If one slave refuses, all go back. */
static int request_apply_macs(struct bond *bond, const struct xbond_bond *before, struct err *err)
{
	bool begins_to_swap = bond_fail_over_mac(bond_pin(bond)) != bond_fail_over_mac(before);
	int r = 0;

	if (!request_changes_macs(bond_pin(bond), before))
		return 0;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++) {
		if (!bond_is_member(bond, slot))
			continue;
		r = slave_mac_set(bond, slot, err);
		if (!r && begins_to_swap)
			r = mac_swap_try(bond, slot, err);
	}
	if (r)
		request_take_back_macs(bond, before, err);
	return r;
}

static bool request_changes_arp(const struct option_set *options)
{
	for (int id = OPT_ARP_INTERVAL; id <= OPT_NS_IP6_TARGET; id++)
		if (options->given[id])
			return true;
	return options->given[OPT_MODE];
}

void request_tell_options(struct bond *bond, const char *slave, const struct option_set *options)
{
	struct event event = { .kind = EVENT_CONFIG,
			       .priority = LOG_INFO,
			       .bond = bond_pin(bond)->name,
			       .slave = slave };
	char sentence[1024], text[OPTION_TEXT_SIZE];
	size_t used = 0;

	sentence[0] = '\0';
	for (int id = 0; id < OPT_COUNT; id++) {
		if (!options->given[id])
			continue;
		option_format(option_at(id), &options->value[id], text, sizeof(text));
		if (used < sizeof(sentence))
			used += (size_t)snprintf(sentence + used, sizeof(sentence) - used,
						 "%s%s %s", used ? ", " : "", option_at(id)->name,
						 text);
	}
	event.field[0] = event_text("action", slave ? "set-slave" : "set");
	event.field[1] = event_json("options", option_set_to_json(options, json_value_text));
	event_tell(&event, "%s%sset %s", slave ? slave : "", slave ? ": " : "", sentence);
}

static void request_apply(struct bond *bond, const struct option_set *options)
{
	if (options->given[OPT_HASH_SEED])
		bond->dataplane.pins.table->hash_seed = bond_pin(bond)->hash_seed;
	if (options->given[OPT_PRIMARY])
		bond_primary_changed(bond);
	if (options->given[OPT_PRIMARY_RESELECT])
		bond_choose_active_again(bond);
	if (options->given[OPT_ACTIVE_SLAVE])
		bond_free_active(bond);
	if (options->given[OPT_MIIMON])
		poll_schedule(bond);
	if (request_changes_arp(options))
		arp_configure(bond);
	quality_configure(bond, options);
	bond_evaluate(bond);
	xdp_settle_tx(bond, NULL);
}

/*
 * -EMSGSIZE, if `xdp` was requested by name: nothing has changed. If slaves take turns, the log
 * tells.
 */
static int request_apply_rx_hook(struct bond *bond, uint32_t before, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct err why;
	int r;

	bond_for_each_member (bond, slot)
		xdp_ask_again(bond, slot);
	r = rx_turn_start(bond, &why);
	if (r != -EMSGSIZE || pin->rx_hook != XBOND_RX_XDP || before == XBOND_RX_XDP)
		return 0;
	pin->rx_hook = before;
	rx_turn_start(bond, NULL);
	return err_set(err, EMSGSIZE,
		       "rx_hook: %s; lower the bond's MTU first, or set auto, which waits for that",
		       why.text);
}

/* `active_slave none`, which leaves the choice to bondd. */
static bool request_frees_active(const struct option_set *options, int id)
{
	return id == OPT_ACTIVE_SLAVE && !options->value[id].name[0];
}

static int request_write_options(struct bond *bond, const struct option_set *options,
				 struct err *err)
{
	for (int id = 0; id < OPT_COUNT; id++) {
		if (!options->given[id] || request_frees_active(options, id))
			continue;
		if (option_at(id)->home != OPTION_IN_BOND)
			return err_set(
				err, EINVAL,
				"set %s by bondctl, which writes it into the settings map itself",
				option_at(id)->name);
		values_write(&bond->dataplane.pins, option_at(id), 0, &options->value[id]);
	}
	return option_together_check(bond_pin(bond), err);
}

/* Options that devices may refuse. Detaching a program cannot fail, so the slaves come later. */
static int request_change_devices(struct bond *bond, const struct xbond_bond *before,
				  const struct option_set *options, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	int r = pin->xdp_tx ? attach_check_settle_path(bond, err) : 0;

	if (!r && pin->xdp_tx)
		r = xdp_settle_tx(bond, err);
	if (!r)
		r = request_apply_macs(bond, before, err);
	if (r || !options->given[OPT_RX_HOOK])
		return r;
	r = request_apply_rx_hook(bond, before->rx_hook, err);
	if (r)
		request_take_back_macs(bond, before, err);
	return r;
}

/* As in kernel bonding. */
static int request_check_empty(struct bond *bond, const struct xbond_bond *before, struct err *err)
{
	if (bond_pin(bond)->fail_over_mac == before->fail_over_mac || !bond_slave_count(bond))
		return 0;
	return err_set(err, ENOTEMPTY,
		       "fail_over_mac: can be changed only while the bond has no slaves; remove "
		       "them first");
}

int request_set(struct daemon *daemon, const char *name, const struct option_set *options,
		struct err *err)
{
	struct xbond_bond before, *pin;
	struct bond *bond;
	int r = request_find(daemon, name, &bond, err);

	if (r)
		return r;
	pin = bond_pin(bond);
	before = *pin;
	r = option_set_check_mode(options, pin->mode, err);
	if (!r)
		r = request_write_options(bond, options, err);
	if (!r)
		r = request_check_empty(bond, &before, err);
	if (!r && pin->mode != before.mode)
		pin->active_slot = XBOND_NO_SLOT;
	if (!r)
		r = request_change_devices(bond, &before, options, err);
	if (!r) {
		request_apply(bond, options);
		request_tell_options(bond, NULL, options);
		return 0;
	}
	*pin = before;
	bond_evaluate(bond);
	if (!pin->xdp_tx)
		xdp_settle_tx(bond, NULL);
	return r;
}

int request_refresh(struct daemon *daemon, const char *name, struct err *err)
{
	struct bond *bond;
	struct err why;
	int r = request_find(daemon, name, &bond, err);

	if (r)
		return r;
	bypass_read_captures(daemon);
	device_sync(bond); /* if bond0 has gone, the message about that ends the bond */
	if (attach_check_settle_path(bond, &why))
		event_error(name, NULL, "%s", why.text);
	bond_evaluate(bond);
	return 0;
}

int request_policy(struct daemon *daemon, const char *name, struct err *err)
{
	struct bond *bond;
	int r = request_find(daemon, name, &bond, err);

	return r ? r : policy_settle(bond, err);
}
