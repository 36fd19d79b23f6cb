/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves option values in and out of the maps of a live bond, by the home and offset in the option
 * table. bondctl reads all of them and writes the steering ones. bondd reads all and writes its
 * own. Values arrive checked; nothing is refused here.
 */
#include "options/values.h"

#include <string.h>

#include "bpf/slots.h"
#include "common/mode.h"
#include "options/option_set.h"

unsigned int values_active_slot(const struct pins *pins)
{
	uint32_t asked = __atomic_load_n(&pins->settings->active_request, __ATOMIC_ACQUIRE);
	uint32_t slot = pins->settings->active_slot;

	if (!mode_has(pins->bond->mode, MODE_ACTIVE))
		return XBOND_NO_SLOT;
	if (asked != pins->table->active_request && (pins->table->tx_mask & slots_bit(slot)))
		return slot;
	return pins->bond->active_slot;
}

uint64_t values_undrained(const struct pins *pins, uint64_t may)
{
	bool by_markers = pins->table->flags & XBOND_F_DRAIN_MARKERS && pins->table->watched;

	return drain_usable(
		may, drain_mask(by_markers, &pins->table->drained, &pins->settings->drain_mask));
}

uint64_t values_tx_slots(const struct pins *pins)
{
	if (pins->table->selection == XBOND_SELECT_ACTIVE)
		return slots_bit(values_active_slot(pins));
	return values_undrained(pins, pins->table->tx_mask);
}

static void values_read_active_slave(const struct pins *pins, char *ret_name)
{
	unsigned int slot = values_active_slot(pins);

	if (slot < XBOND_MAX_SLAVES)
		memcpy(ret_name, pins->slaves[slot].name, XBOND_NAME_SIZE - 1);
}

static void values_read_list(const struct option_spec *option, const uint8_t *home,
			     struct option_value *ret_value)
{
	size_t size = option_address_size(option);

	for (unsigned int i = 0; i < XBOND_MAX_TARGETS; i++)
		memcpy(ret_value->address[i], home + i * size, size);
}

static void values_write_list(const struct option_spec *option, uint8_t *home,
			      const struct option_value *value)
{
	size_t size = option_address_size(option);

	for (unsigned int i = 0; i < XBOND_MAX_TARGETS; i++)
		memcpy(home + i * size, value->address[i], size);
}

static void *values_home_of(const struct pins *pins, const struct option_spec *option,
			    unsigned int slot)
{
	char *home = (char *)pins->bond;

	if (option->home == OPTION_IN_SETTINGS)
		home = (char *)pins->settings;
	else if (option->home == OPTION_IN_SLAVE)
		home = (char *)&pins->slaves[slot];
	return home + option->offset;
}

void values_read(const struct pins *pins, const struct option_spec *option, unsigned int slot,
		 struct option_value *ret_value)
{
	memset(ret_value, 0, sizeof(*ret_value));
	if (option->home == OPTION_NOWHERE)
		return;
	if (option->id == OPT_ACTIVE_SLAVE)
		values_read_active_slave(pins, ret_value->name);
	else if (option->id == OPT_WEIGHT)
		ret_value->number = pins->settings->weight[slot];
	else if (option->id == OPT_DRAIN)
		ret_value->number = !!(pins->settings->drain_mask & slots_bit(slot));
	else if (option->type == OPTION_IFNAME)
		memcpy(ret_value->name, values_home_of(pins, option, slot), XBOND_NAME_SIZE - 1);
	else if (option->type == OPTION_MAC)
		memcpy(ret_value->mac, values_home_of(pins, option, slot), XBOND_MAC_SIZE);
	else if (option->type == OPTION_ADDRESS)
		memcpy(&ret_value->host, values_home_of(pins, option, slot),
		       sizeof(ret_value->host));
	else if (option_is_list(option))
		values_read_list(option, values_home_of(pins, option, slot), ret_value);
	else
		ret_value->number = *(const uint32_t *)values_home_of(pins, option, slot);
}

/*
 * The request counts only after the second store, so a packet never sees a number without its slot.
 */
static void values_ask_for_active(struct pins *pins, const char *name)
{
	int slot = *name ? pins_slot_by_name(pins, name) : -1;

	if (slot < 0)
		return;
	__atomic_store_n(&pins->settings->active_slot, (uint32_t)slot, __ATOMIC_RELAXED);
	__atomic_add_fetch(&pins->settings->active_request, 1, __ATOMIC_RELEASE);
}

static void values_write_drain(struct xbond_settings *settings, unsigned int slot, bool drain)
{
	if (drain)
		__atomic_or_fetch(&settings->drain_mask, slots_bit(slot), __ATOMIC_RELAXED);
	else
		__atomic_and_fetch(&settings->drain_mask, ~slots_bit(slot), __ATOMIC_RELAXED);
}

void values_write(struct pins *pins, const struct option_spec *option, unsigned int slot,
		  const struct option_value *value)
{
	void *home;

	if (option->home == OPTION_NOWHERE)
		return;
	home = values_home_of(pins, option, slot);
	if (option->id == OPT_ACTIVE_SLAVE)
		values_ask_for_active(pins, value->name);
	else if (option->id == OPT_DRAIN)
		values_write_drain(pins->settings, slot, value->number);
	else if (option->id == OPT_WEIGHT)
		__atomic_store_n(&pins->settings->weight[slot], value->number, __ATOMIC_RELAXED);
	else if (option->type == OPTION_IFNAME)
		memcpy(home, value->name, XBOND_NAME_SIZE);
	else if (option->type == OPTION_MAC)
		memcpy(home, value->mac, XBOND_MAC_SIZE);
	else if (option->type == OPTION_ADDRESS)
		memcpy(home, &value->host, sizeof(value->host));
	else if (option_is_list(option))
		values_write_list(option, home, value);
	else
		__atomic_store_n((uint32_t *)home, value->number, __ATOMIC_RELAXED);
}

void values_write_given(struct pins *pins, enum option_home home, unsigned int slot,
			const struct option_set *options)
{
	for (int id = 0; id < OPT_COUNT; id++)
		if (options->given[id] && option_at(id)->home == home)
			values_write(pins, option_at(id), slot, &options->value[id]);
}

/* A team that can send gives its ports its own address. Another one has only the direct way. */
static void values_fill_team(struct xbond_bond *bond, struct xbond_settings *settings)
{
	if (bond->device != XBOND_DEVICE_TEAM)
		return;
	bond->team_sends = bond->mac_policy != XBOND_MAC_FILTER &&
			   bond->fail_over_mac == XBOND_FAIL_OVER_MAC_NONE;
	if (!bond->team_sends)
		settings->path = XBOND_PATH_DIRECT;
}

void values_fill(struct xbond_bond *bond, struct xbond_settings *settings,
		 const struct option_set *options)
{
	struct pins pins = { .settings = settings, .bond = bond };

	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		const struct option_value *value = &options->value[id];
		struct option_value initial;

		if (option->scope != OPTION_BOND || id == OPT_ACTIVE_SLAVE ||
		    (option->is_alias && !options->given[id]))
			continue;
		if (!options->given[id]) {
			initial = option_initial(option);
			value = &initial;
		}
		values_write(&pins, option, 0, value);
	}
	values_fill_team(bond, settings);
}
