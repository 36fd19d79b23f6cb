/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values in the kernel's files. */

#include "cli/import/kernel_bond.h"

/* Such values come with their number: "802.3ad 4". */
static const char *kernel_value(struct import *import, const struct import_key *key,
				const char *value)
{
	if (key->convert)
		return key->convert(import, value);
	return import_first_word(import, value);
}

void kernel_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		  struct import_slave *slave, const char *value, const struct import_line *line)
{
	const struct option_spec *option = option_at(key->option);
	struct option_value parsed = { 0 };
	const char *text = *value ? kernel_value(import, key, value) : "";

	if (text && !*text)
		return;
	if (text && !key->why_lost && !option_is_list(option) && key->option != OPT_MODE &&
	    !option_parse(option, text, &parsed, NULL) && option_is_default(option, &parsed))
		return;
	import_apply_key(import, key, bond, slave, key->convert || !text ? value : text, line);
}

bool kernel_is_in_sysfs(enum option_id id)
{
	switch ((unsigned int)id) {
	case OPT_LACP_ACTIVE:
	case OPT_NS_IP6_TARGET:
	case OPT_COUPLED_CONTROL:
	case OPT_BROADCAST_NEIGHBOR:
	case OPT_LACP_STRICT:
	case OPT_ACTOR_PORT_PRIO:
	case OPT_PRIO: return false;
	default: return true;
	}
}
