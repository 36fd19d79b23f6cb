/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values in the kernel's files. */

#include "cli/import/kernel_bond.h"

/* Such values come with their number: "802.3ad 4", "off 0". */
static const char *kernel_word(struct import *import, const struct import_key *key,
			       const char *value)
{
	return key->convert && key->convert != import_switch ? value
							     : import_first_word(import, value);
}

void kernel_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		  struct import_slave *slave, const char *value, const struct import_line *line)
{
	const struct option_spec *option = option_at(key->option);
	struct option_value parsed = { 0 };
	const char *text = value = kernel_word(import, key, value);

	if (*value && key->convert)
		text = key->convert(import, value);
	if (text && !*text)
		return;
	if (text && !key->why_lost && !option_is_list(option) && key->option != OPT_MODE &&
	    !option_parse(option, text, &parsed, NULL) && option_is_default(option, &parsed))
		return;
	import_apply_key(import, key, bond, slave, value, line);
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
