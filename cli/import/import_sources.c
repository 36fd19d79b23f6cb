/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_sources.h"

const struct import_source import_sources[] = {
	{ "ifupdown", "/etc/network/interfaces", ifupdown_tables, ifupdown_read },
	{ "netplan", "/etc/netplan, /run/netplan and /lib/netplan", netplan_tables, netplan_read },
	{ .name = NULL },
};
