/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four parts of the option table, and what their entries are written with. For these parts and
 * options.c alone: everybody else asks options.h. An entry says once what an option is: its allowed
 * values are put into words from type, names and limits, its modes follow from a trait
 * (common/mode.h).
 */
#ifndef XBOND_OPTIONS_OPTION_TABLE_H
#define XBOND_OPTIONS_OPTION_TABLE_H

#include "common/mode.h"
#include "options/options.h"

#define IN_SETTINGS(field) \
	.home = OPTION_IN_SETTINGS, .offset = offsetof(struct xbond_settings, field)
#define IN_BOND(field) .home = OPTION_IN_BOND, .offset = offsetof(struct xbond_bond, field)
#define IN_SLAVE(field) .home = OPTION_IN_SLAVE, .offset = offsetof(struct xbond_slave, field)

#define KERNEL_INT_MAX 2147483647u

/* The parts in the order of enum option_id; each begins with the first option of its kind. */
extern const struct option_spec option_table_bond[OPT_REBALANCE_INTERVAL];
extern const struct option_spec option_table_steering[OPT_LACP_RATE - OPT_REBALANCE_INTERVAL];
extern const struct option_spec option_table_lacp[OPT_WEIGHT - OPT_LACP_RATE];
extern const struct option_spec option_table_slave[OPT_COUNT - OPT_WEIGHT];

#endif
