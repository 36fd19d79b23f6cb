/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complete/offer_options.h"

#include <string.h>

#include "cli/complete/live.h"
#include "common/mode.h"

static bool offer_is_given(const struct option_spec *option, char **pairs, int count)
{
	for (int at = 0; at + 1 < count; at += 2)
		if (!strcmp(pairs[at], option->name))
			return true;
	return false;
}

/* The mode that the line asks for, or the one of the bond; NULL if neither is known. */
static const struct mode *offer_mode(const struct live_bond *bond, char **pairs, int count)
{
	for (int at = 0; at + 1 < count; at += 2)
		if (!strcmp(pairs[at], option_at(OPT_MODE)->name))
			return mode_by_name(pairs[at + 1]);
	return bond->known ? mode_find(bond->mode) : NULL;
}

void offer_options(const struct line *line, char **pairs, int count, struct offers *offers)
{
	const struct mode *mode;
	struct live_bond bond;

	live_bond_read(&line->cli, line->bond, &bond);
	mode = offer_mode(&bond, pairs, count);
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (!cli_verb_takes(line->verb, option) || option->is_alias ||
		    (bond.known && option->at_create) || offer_is_given(option, pairs, count) ||
		    (mode && !option_has_effect(option, mode->number)))
			continue;
		offers_add(offers, option->name, option->help);
	}
	live_bond_done(&bond);
}

/* "none" clears it: of an address, a name or a list. */
static bool offer_can_be_none(const struct option_spec *option)
{
	return option->type == OPTION_MAC || option->type == OPTION_IFNAME ||
	       option->type == OPTION_ADDRESS || option_is_list(option);
}

static void offer_value(const struct option_spec *option, const char *value, struct offers *offers)
{
	offers_add(offers, value, strcmp(value, option->initial) != 0 ? "" : "the default");
}

void offer_option_values(const struct line *line, const char *name, struct offers *offers)
{
	const struct option_spec *option = option_find(line->verb->scope, name);
	struct option_name value;

	if (!option || !cli_verb_takes(line->verb, option))
		return;
	if (option->type == OPTION_BOOL) {
		offer_value(option, "on", offers);
		offer_value(option, "off", offers);
	}
	for (unsigned int i = 0; option_name_at(option, i, &value); i++)
		offer_value(option, value.name, offers);
	if (option->word)
		offer_value(option, option->word, offers);
	if (option->type == OPTION_IFNAME)
		live_offer_slaves(&line->cli, line->bond, offers);
	if (offer_can_be_none(option))
		offer_value(option, "none", offers);
	offer_value(option, option->initial, offers);
}
