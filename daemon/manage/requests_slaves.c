/* SPDX-License-Identifier: GPL-2.0-or-later */
/* add-slave and del-slave: all devices of a call, or none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/readings.h"
#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/manage/requests.h"
#include "daemon/slave/slave.h"
#include "network/ip.h"
#include "options/values.h"

struct addition {
	struct bond *bond;
	const struct option_set *options;
	json_t *notes;
	struct link_info links[XBOND_MAX_SLAVES];
	struct address_set {
		struct address *address;
		int count;
	} * addresses; /* of each link, before anything changed */
	size_t count;
	unsigned int slot; /* the first that is tried */
	uint64_t added;	   /* slots */
	bool gave_mac, gave_policy;
	uint32_t policy_before; /* fail_over_mac */
};

static int request_check_all(struct addition *addition, const char *const *slaves, size_t count,
			     struct err *err)
{
	unsigned int used = bond_slave_count(addition->bond);
	bool force =
		addition->options->given[OPT_FORCE] && addition->options->value[OPT_FORCE].number;
	int r = 0;

	if (used + count > XBOND_MAX_SLAVES)
		return err_set(err, ENOSPC,
			       "%s has %u slaves and can have %d; %zu more are too many",
			       bond_pin(addition->bond)->name, used, XBOND_MAX_SLAVES, count);
	for (size_t i = 0; i < count && !r; i++) {
		r = enslave_check(addition->bond, slaves[i], force, &addition->links[i], err);
		for (size_t j = 0; j < i && !r; j++) /* a device may have alternative names */
			if (addition->links[i].ifindex == addition->links[j].ifindex)
				r = err_set(err, EINVAL, "%s is named twice",
					    addition->links[i].name);
	}
	addition->count = count;
	return r;
}

/*
 * Refuses a queue_id that another slave has. slots: the slaves that get it; count: how many they
 * are, also before they have slots.
 */
static int request_check_queue_id(struct bond *bond, const struct option_set *options,
				  uint64_t slots, size_t count, struct err *err)
{
	uint32_t queue_id = options->given[OPT_QUEUE_ID] ? options->value[OPT_QUEUE_ID].number : 0;

	if (!queue_id)
		return 0;
	if (count > 1)
		return err_set(
			err, EINVAL,
			"queue_id: two slaves cannot have the same number; give each its own");
	bond_for_each_member (bond, slot)
		if (!slots_have(slots, slot) && bond_slave(bond, slot)->queue_id == queue_id)
			return err_set(err, EEXIST,
				       "queue_id: %u is the number of %s; choose another", queue_id,
				       bond_slave(bond, slot)->name);
	return 0;
}

static unsigned int request_free_slot(struct bond *bond, unsigned int wanted)
{
	unsigned int slot = 0;

	if (wanted < XBOND_MAX_SLAVES && bond_slave(bond, wanted)->state == XBOND_SLOT_FREE)
		return wanted;
	while (slot < XBOND_MAX_SLAVES && bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
		slot++;
	return slot;
}

/* As in kernel bonding, the first slave's address, unless the user has set one. */
static int request_give_mac(struct addition *addition, struct err *err)
{
	struct bond *bond = addition->bond;
	struct xbond_bond *pin = bond_pin(bond);

	if (bond_slave_count(bond) ||
	    (!bond->device.mac_is_lent && !mac_is_same(pin->mac, pin->random_mac)))
		return 0;
	bond->device.mac_is_lent = false;
	addition->gave_mac = true; /* also if the kernel's answer is lost */
	return device_set_mac(bond, addition->links[0].mac, err);
}

void request_note(json_t *notes, const char *format, ...)
{
	char text[sizeof(struct err)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (notes)
		json_array_append_new(notes, json_value_text(text));
}

/*
 * As in kernel bonding: if the first slave cannot change its address, the bond takes the addresses
 * of its slaves.
 */
static void request_give_policy(struct addition *addition)
{
	struct bond *bond = addition->bond;
	struct xbond_bond *pin = bond_pin(bond);
	const struct link_info *first = &addition->links[0];

	if (!mode_has(pin->mode, MODE_ALONE) || pin->mac_policy == XBOND_MAC_FILTER ||
	    pin->team_sends || pin->fail_over_mac == XBOND_FAIL_OVER_MAC_ACTIVE ||
	    bond_slave_count(bond) ||
	    link_can_change_mac(&bond->daemon->nl, first->ifindex, first->mac))
		return;
	addition->policy_before = pin->fail_over_mac;
	addition->gave_policy = true;
	pin->fail_over_mac = XBOND_FAIL_OVER_MAC_ACTIVE;
	event_notice(pin->name, first->name,
		     "%s cannot change its MAC address: fail_over_mac is now active", first->name);
	request_note(addition->notes,
		     "%s cannot change its MAC address: fail_over_mac is now active", first->name);
}

static void request_write_settings(struct addition *addition, unsigned int slot)
{
	struct pins *pins = &addition->bond->dataplane.pins;

	/* Removes what a bondd that died may have left in a free slot. */
	pins->settings->weight[slot] = 0;
	__atomic_and_fetch(&pins->settings->drain_mask, ~slots_bit(slot), __ATOMIC_RELAXED);
	values_write_given(pins, OPTION_IN_SETTINGS, slot, addition->options);
}

/* What the user has not given has its default. */
static void request_write_slave(struct addition *addition, unsigned int slot)
{
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		const struct option_value value = addition->options->given[id]
							  ? addition->options->value[id]
							  : option_initial(option);

		if (option->home == OPTION_IN_SLAVE)
			values_write(&addition->bond->dataplane.pins, option, slot, &value);
	}
}

static int request_add_one(struct addition *addition, const struct link_info *link, struct err *err)
{
	unsigned int slot = request_free_slot(addition->bond, addition->slot);
	int r;

	request_write_settings(addition, slot);
	r = slave_enslave(addition->bond, slot, link, err);
	if (r)
		return r;
	request_write_slave(addition, slot);
	addition->added |= slots_bit(slot);
	return 0;
}

/* Warns of things that kernel bonding would heed, and that their owner may not think of. */
static void request_note_chains(struct addition *addition)
{
	const char *bond = bond_pin(addition->bond)->name;

	slots_for_each (addition->added, slot) {
		const struct xbond_slave *slave = bond_slave(addition->bond, slot);

		if (slave->trouble & XBOND_TROUBLE_NFT)
			request_note(addition->notes,
				     "nft chains at the ingress of %s see nothing of what %s "
				     "receives; put them on %s",
				     slave->name, bond, bond);
		if (slave->trouble & XBOND_TROUBLE_NFT_EGRESS)
			request_note(addition->notes,
				     "nft chains at the egress of %s see nothing of what %s sends; "
				     "put them on %s",
				     slave->name, bond, bond);
	}
}

static int request_list_addresses_of(struct nl *nl, const struct link_info *link,
				     struct address_set *ret_set, struct err *err)
{
	int room = address_list(nl, link->ifindex, NULL, 0), count = room;

	if (room > 0) {
		ret_set->address = memory_need(calloc((size_t)room, sizeof(*ret_set->address)));
		count = address_list(nl, link->ifindex, ret_set->address, room);
	}
	if (count < 0)
		return err_set(err, EAGAIN, "cannot read the addresses of %s; try again",
			       link->name);
	ret_set->count = count < room ? count : room;
	return 0;
}

static int request_list_addresses(struct addition *addition, struct err *err)
{
	struct nl *nl = &addition->bond->daemon->nl;
	int r = 0;

	addition->addresses = memory_need(calloc(addition->count, sizeof(*addition->addresses)));
	for (size_t i = 0; i < addition->count && !r; i++)
		r = request_list_addresses_of(nl, &addition->links[i], &addition->addresses[i],
					      err);
	return r;
}

static void request_free_addresses(struct addition *addition)
{
	for (size_t i = 0; i < addition->count && addition->addresses; i++)
		free(addition->addresses[i].address);
	free(addition->addresses);
}

/* The kernel may have removed it together with the first address of its network. */
static int request_remove_address(struct nl *nl, int ifindex, const struct address *address,
				  struct err *err)
{
	int r = address_delete(nl, ifindex, address, err);

	return r == -EADDRNOTAVAIL ? 0 : r;
}

/* The IPv6 addresses have gone with IPv6 on the slave. */
static void request_remove_addresses(struct addition *addition, size_t i)
{
	const struct address_set *set = &addition->addresses[i];
	const struct link_info *link = &addition->links[i];
	struct nl *nl = &addition->bond->daemon->nl;
	struct err err;

	for (int k = 0; k < set->count; k++) {
		const struct address *address = &set->address[k];

		if (address->family == AF_INET &&
		    request_remove_address(nl, link->ifindex, address, &err))
			request_note(addition->notes, "cannot remove %s from %s: %s", address->text,
				     link->name, err.text);
		else
			request_note(addition->notes, "removed %s from %s", address->text,
				     link->name);
	}
}

/* The last one first: the kernel puts each before the others. */
static void request_give_back_addresses(struct nl *nl, int ifindex, const struct address_set *set)
{
	for (int k = set->count - 1; k >= 0; k--)
		if (set->address[k].family == AF_INET6)
			address_add(nl, ifindex, &set->address[k]);
}

static void request_take_back(struct addition *addition)
{
	struct xbond_bond *pin = bond_pin(addition->bond);
	struct nl *nl = &addition->bond->daemon->nl;

	slave_release(addition->bond, addition->added);
	if (addition->gave_policy)
		pin->fail_over_mac = addition->policy_before;
	if (addition->gave_mac)
		device_take_back_mac(addition->bond);
	for (size_t i = 0; i < addition->count; i++)
		request_give_back_addresses(nl, addition->links[i].ifindex,
					    &addition->addresses[i]);
}

static int request_add_all(struct addition *addition, struct err *err)
{
	int r;

	request_give_policy(addition);
	r = request_give_mac(addition, err);
	for (size_t i = 0; i < addition->count && !r; i++)
		r = request_add_one(addition, &addition->links[i], err);
	if (r) {
		request_take_back(addition);
		return r;
	}
	slots_for_each (addition->added, slot)
		slave_admit(addition->bond, slot);
	/* This is the last step, because addresses do not come back by themselves. */
	for (size_t i = 0; i < addition->count; i++) {
		event_config("add-slave", bond_pin(addition->bond)->name, addition->links[i].name,
			     "slave %s added", addition->links[i].name);
		request_remove_addresses(addition, i);
	}
	request_note_chains(addition);
	bond_evaluate(addition->bond);
	return 0;
}

static int request_add(struct addition *addition, struct daemon *daemon, const char *name,
		       const char *const *slaves, size_t count, struct err *err)
{
	const struct option_set *options = addition->options;
	int r = request_find(daemon, name, &addition->bond, err);

	if (!r)
		r = option_set_check_mode(options, bond_pin(addition->bond)->mode, err);
	if (!r)
		r = request_check_queue_id(addition->bond, options, 0, count, err);
	if (!r)
		r = request_check_all(addition, slaves, count, err);
	if (r)
		return r;
	r = request_list_addresses(addition, err);
	if (!r)
		r = request_add_all(addition, err);
	request_free_addresses(addition);
	return r;
}

int request_add_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, const struct option_set *options, json_t *notes,
		       struct err *err)
{
	struct addition addition = { .options = options, .notes = notes };

	return request_add(&addition, daemon, name, slaves, count, err);
}

int request_add_slave_at(struct daemon *daemon, const char *name, const char *slave,
			 unsigned int slot, const struct option_set *options, struct err *err)
{
	struct addition addition = { .options = options, .slot = slot };

	return request_add(&addition, daemon, name, &slave, 1, err);
}

/* With fail_over_mac active, the bond takes the address of the next active slave. */
static void request_note_kept_mac(struct bond *bond, unsigned int slot, json_t *notes)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	char text[MAC_FORMAT_SIZE];

	if (bond_fail_over_mac(bond_pin(bond)) == XBOND_FAIL_OVER_MAC_ACTIVE &&
	    bond_slave_count(bond) > 1)
		return;
	if (mac_is_same(slave->before.mac, bond_pin(bond)->mac))
		request_note(notes,
			     "%s keeps %s's MAC address %s; give one of them another if both are "
			     "used on one network",
			     bond_pin(bond)->name, slave->name,
			     mac_format(slave->before.mac, text));
}

/* or_left: or of one that was removed before, and is not yet as it was. */
static int request_find_slot(struct bond *bond, const char *name, bool or_left)
{
	int slot = pins_slot_by_name(&bond->dataplane.pins, name);
	struct link_info link;

	for (unsigned int i = 0; i < XBOND_MAX_SLAVES && slot < 0 && or_left; i++)
		if (bond_slave(bond, i)->state == XBOND_SLOT_RELEASING &&
		    !strcmp(bond_slave(bond, i)->name, name))
			slot = (int)i;
	if (slot < 0 && or_left && awaited_find(bond, name))
		return -1;
	/* It may be an alternative name. */
	return slot < 0 && !link_get_by_name(&bond->daemon->nl, name, &link)
		       ? bond_slot_by_ifindex(bond, link.ifindex)
		       : slot;
}

/*
 * The slots of the named slaves, and their names, which the caller frees. Each must be a member or,
 * with or_awaited, an awaited slave, which has no slot.
 */
static int request_find_slots(struct bond *bond, const char *const *slaves, size_t count,
			      bool or_awaited, uint64_t *ret_mask, char ***ret_names,
			      struct err *err)
{
	const char *name = bond_pin(bond)->name;

	*ret_mask = 0;
	*ret_names = memory_need(calloc(count + 1, sizeof(**ret_names)));
	for (size_t i = 0; i < count; i++) {
		int slot = request_find_slot(bond, slaves[i], or_awaited);

		if (slot < 0 && !(or_awaited && awaited_find(bond, slaves[i])))
			return err_set(
				err, ENODEV,
				"%s is not a slave of %s ('bondctl show %s' lists the slaves)",
				slaves[i], name, name);
		*ret_mask |= slot < 0 ? 0 : slots_bit(slot);
		(*ret_names)[i] = memory_text(
			"%s", slot < 0 ? slaves[i] : bond_slave(bond, (unsigned int)slot)->name);
	}
	return 0;
}

static void request_write_slaves(struct bond *bond, uint64_t slots, char **names,
				 const struct option_set *options)
{
	bond_for_each_member (bond, slot)
		if (slots_have(slots, slot))
			values_write_given(&bond->dataplane.pins, OPTION_IN_SLAVE, slot, options);
	if (options->given[OPT_PRIO])
		bond_choose_active_again(bond);
	bond_evaluate(bond);
	for (char **name = names; *name; name++)
		request_tell_options(bond, *name, options);
}

int request_set_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, const struct option_set *options, struct err *err)
{
	char **names = NULL;
	struct bond *bond;
	uint64_t mask;
	int r = request_find(daemon, name, &bond, err);

	if (!r)
		r = request_find_slots(bond, slaves, count, false, &mask, &names, err);
	if (!r)
		r = option_set_check_mode(options, bond_pin(bond)->mode, err);
	for (int id = OPT_WEIGHT; id < OPT_COUNT && !r; id++)
		if (options->given[id] && option_at(id)->home != OPTION_IN_SLAVE)
			r = err_set(
				err, EINVAL,
				"set %s by bondctl, which writes it into the settings map itself",
				option_at(id)->name);
	if (!r)
		r = request_check_queue_id(bond, options, mask, count, err);
	if (!r)
		request_write_slaves(bond, mask, names, options);
	memory_free_texts(names);
	return r;
}

static int request_check_released(struct bond *bond, uint64_t mask, struct err *err)
{
	char left[RESTORED_TEXT_SIZE];

	slots_for_each (mask, slot)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			return err_set(err, EAGAIN,
				       "not all is as it was before (%s); bondd tries it again",
				       restored_left_of(&bond->dataplane.pins, left));
	return 0;
}

static int request_release(struct bond *bond, uint64_t mask, char **names, json_t *notes,
			   struct err *err)
{
	bond_for_each_member (bond, slot)
		if (slots_have(mask, slot)) {
			request_note_kept_mac(bond, slot, notes);
			awaited_slave_left(bond, slot);
		}
	for (char **name = names; *name; name++)
		awaited_remove(bond, *name);
	slave_release(bond, mask);
	awaited_try_soon(bond->daemon);
	for (char **name = names; *name; name++)
		event_config("del-slave", bond_pin(bond)->name, *name, "slave %s removed", *name);
	return request_check_released(bond, mask, err);
}

int request_del_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, json_t *notes, struct err *err)
{
	char **names = NULL;
	struct bond *bond;
	uint64_t mask;
	int r = request_find(daemon, name, &bond, err);

	if (!r)
		r = request_find_slots(bond, slaves, count, true, &mask, &names, err);
	if (!r)
		r = request_release(bond, mask, names, notes, err);
	memory_free_texts(names);
	return r;
}
