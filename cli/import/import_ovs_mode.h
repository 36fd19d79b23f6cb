/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modes of bonds of Open vSwitch. It has two settings where xbond has one: bond_mode says how
 * the members share the traffic, lacp whether LACP decides which of them do.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_OVS_MODE_H
#define XBOND_CLI_IMPORT_IMPORT_OVS_MODE_H

#include "cli/import/import_keys.h"

struct ovs_mode {
	const char *mode; /* bond_mode; NULL: not set */
	const char *lacp; /* active, passive, off; NULL: not set */
	struct import_line mode_line, lacp_line;
	bool falls_back; /* lacp-fallback-ab */
};

bool ovs_knows_mode(const char *mode);
void ovs_set_mode(struct import *import, struct import_bond *bond, const struct ovs_mode *ovs);
/*
 * The mode and all other settings of a port, as ovs-vsctl takes them: words "bond_mode=balance-slb"
 * or "other_config:lacp-time=fast". Without them it has the defaults of Open vSwitch.
 */
void ovs_take_settings(struct import *import, struct import_bond *bond, const char *words,
		       const struct import_line *line);
/* Whether Open vSwitch ignores this option of a bond whose mode is set. */
bool ovs_ignores(const struct import_bond *bond, enum option_id id);
#define OVS_IGNORES "Open vSwitch has no delays with LACP"

/* Columns of a port, and keys of its other_config. */
extern const struct import_key ovs_port_keys[], ovs_port_config_keys[];

#endif
