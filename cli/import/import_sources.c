/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_sources.h"

const struct import_source import_sources[] = {
	{ "ifupdown", "/etc/network/interfaces", ifupdown_tables, ifupdown_read },
	{ "netplan", "/etc/netplan, /run/netplan and /lib/netplan", netplan_tables, netplan_read },
	{ "networkd", "/etc/systemd/network, /run and /usr/lib", networkd_tables, networkd_read },
	{ "networkmanager", "/etc/NetworkManager/system-connections and /etc/sysconfig",
	  networkmanager_tables, networkmanager_read },
	{ "teamd", "/etc/teamd", teamd_tables, teamd_read },
	{ "ovs", "Open vSwitch", ovs_tables_of_keys, ovs_read },
	{ "kernel", "/sys/class/net", kernel_tables, kernel_read },
	{ .name = NULL },
};
