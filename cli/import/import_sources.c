/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_sources.h"

const struct import_source import_sources[] = {
	{ "ifupdown", "/etc/network/interfaces", ifupdown_tables, ifupdown_read, true },
	{ "netplan", "/run/netplan, /etc/netplan and /lib/netplan", netplan_tables, netplan_read,
	  true },
	{ "networkd", "/etc/systemd/network, /run and /usr/lib", networkd_tables, networkd_read,
	  true },
	{ "networkmanager", "/etc/NetworkManager/system-connections and /etc/sysconfig",
	  networkmanager_tables, networkmanager_read, true },
	{ "teamd", "/etc/teamd", teamd_tables, teamd_read, false },
	{ "ovs", "Open vSwitch", ovs_tables_of_keys, ovs_read, false },
	{ "kernel", "/sys/class/net", kernel_tables, kernel_read, true },
	{ "nmstate", "/etc/nmstate", nmstate_tables, nmstate_read, true },
	{ "cloud-init", "/etc/cloud/cloud.cfg.d and /var/lib/cloud/seed", cloud_init_tables,
	  cloud_init_read, true },
	{ .name = NULL },
};
