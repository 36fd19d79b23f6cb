// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of a bond that choose slaves by their load. A part of the option table. */
#include "options/option_table.h"

#define STEERING(id) [(id)-OPT_REBALANCE_INTERVAL]

const struct option_spec option_table_steering[OPT_LACP_RATE - OPT_REBALANCE_INTERVAL] = {
	STEERING(OPT_REBALANCE_INTERVAL) = {
		.id = OPT_REBALANCE_INTERVAL,
		.name = "rebalance_interval",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(rebalance_interval_s),
		.max = 3600,
		.initial = "0",
		.effect = MODE_HASH,
		.help = "seconds after which flows move from busy slaves to idle ones; 0: never",
	},
	STEERING(OPT_REBALANCE_IDLE) = {
		.id = OPT_REBALANCE_IDLE,
		.name = "rebalance_idle",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(rebalance_idle_ms),
		.max = 60000,
		.initial = "100",
		.effect = MODE_HASH,
		.help = "milliseconds that flows must have been silent to be moved; 0: moves busy ones, too",
	},
	STEERING(OPT_FLOWLET_GAP) = {
		.id = OPT_FLOWLET_GAP,
		.name = "flowlet_gap",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(flowlet_gap_us),
		.max = 1000000,
		.initial = "0",
		.effect = MODE_HASH,
		.help = "microseconds of silence after which a flow may change its slave; 0: off",
	},
	STEERING(OPT_TLB_DYNAMIC_LB) = {
		.id = OPT_TLB_DYNAMIC_LB,
		.name = "tlb_dynamic_lb",
		.scope = OPTION_BOND,
		.type = OPTION_BOOL,
		IN_BOND(tlb_dynamic_lb),
		.initial = "on",
		.needs = MODE_OWN_MACS,
		.help = "move flows by the load of the slaves",
	},
	STEERING(OPT_LP_INTERVAL) = {
		.id = OPT_LP_INTERVAL,
		.name = "lp_interval",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(lp_interval_s),
		.min = 1,
		.max = KERNEL_INT_MAX,
		.initial = "1",
		.effect = MODE_OWN_MACS,
		.help = "seconds between two learning packets, from which switches learn each slave's address",
	},
};
