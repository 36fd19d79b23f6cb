/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a slave. A part of the option table. */
#include "options/option_table.h"

static const struct option_name weight_names[] = {
	{ "auto", 0 },
	{ NULL, 0 },
};

const struct option_spec option_table_slave[OPT_COUNT - OPT_WEIGHT] = {
	[OPT_WEIGHT - OPT_WEIGHT] = {
		.id = OPT_WEIGHT,
		.name = "weight",
		.scope = OPTION_SLAVE,
		.type = OPTION_UINT,
		IN_SETTINGS(weight),
		.names = weight_names,
		.min = 1,
		.max = 65535,
		.initial = "auto",
		.effect = MODE_SHARES,
		.help = "share of the traffic; auto: by link speed, equal if a speed is unknown",
	},
	[OPT_DRAIN - OPT_WEIGHT] = {
		.id = OPT_DRAIN,
		.name = "drain",
		.scope = OPTION_SLAVE,
		.type = OPTION_BOOL,
		IN_SETTINGS(drain_mask),
		.initial = "off",
		.help = "carry traffic only when no other slave can",
	},
	[OPT_ACTOR_PORT_PRIO - OPT_WEIGHT] = {
		.id = OPT_ACTOR_PORT_PRIO,
		.name = "actor_port_prio",
		.scope = OPTION_SLAVE,
		.type = OPTION_UINT,
		IN_SLAVE(actor_port_prio),
		.max = 65535,
		.initial = "255",
		.needs = MODE_LACP,
		.help = "priority of the port: with max_links the lowest are in use",
	},
	[OPT_QUEUE_ID - OPT_WEIGHT] = {
		.id = OPT_QUEUE_ID,
		.name = "queue_id",
		.scope = OPTION_SLAVE,
		.type = OPTION_UINT,
		IN_SLAVE(queue_id),
		.max = 65534, /* the kernel's "no queue" is one more */
		.initial = "0",
		.help = "packets with this queue_mapping take the slave; 0: none",
	},
	[OPT_PRIO - OPT_WEIGHT] = {
		.id = OPT_PRIO,
		.name = "prio",
		.scope = OPTION_SLAVE,
		.type = OPTION_INT,
		IN_SLAVE(prio),
		.initial = "0",
		.needs = MODE_ACTIVE,
		.help = "the slave with the highest is preferred if the primary is not up",
	},
	[OPT_FORCE - OPT_WEIGHT] = {
		.id = OPT_FORCE,
		.name = "force",
		.scope = OPTION_SLAVE,
		.type = OPTION_BOOL,
		.home = OPTION_NOWHERE,
		.initial = "no",
		.help = "add the slave although it has IP addresses, which are removed",
	},
};
