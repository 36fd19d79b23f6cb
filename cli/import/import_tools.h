/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files about one tool have for each other, and for tools that contain another. */
#ifndef XBOND_CLI_IMPORT_IMPORT_TOOLS_H
#define XBOND_CLI_IMPORT_IMPORT_TOOLS_H

#include <jansson.h>

#include "cli/import/import.h"
#include "cli/import/import_files.h"

/*
 * The modes of bonds of Open vSwitch. It has two settings where xbond has one: bond_mode says how
 * the members share the traffic, lacp whether LACP decides which of them do.
 */

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

/*
 * The tables Port and Interface of Open vSwitch's database: as 'ovs-vsctl --format=json list'
 * prints them, or as its file has them, which is a log of changes (ovsdb(5)). Knows nothing of
 * bonds.
 */

struct ovs_tables {
	json_t *ports, *interfaces; /* objects: UUID -> { column: value } */
};

/* Begins and ends; both tables are there in between. */
void ovs_tables_init(struct ovs_tables *tables);
void ovs_tables_done(struct ovs_tables *tables);

/* Adds what the file has. Returns -errno, with a line in err. */
int ovs_tables_add(struct ovs_tables *tables, const struct import_file *file, struct err *err);

/* The members of a set, or the one value; NULL behind the last one. */
const json_t *ovs_set_at(const json_t *value, size_t i);
/* The UUID of an atom ["uuid", "..."]; NULL if it is none. */
const char *ovs_uuid(const json_t *atom);
/* The i-th pair of a map. Returns false behind the last one. */
bool ovs_map_at(const json_t *value, size_t i, const char **ret_key, const char **ret_value);
/* NULL: there is none. */
const char *ovs_map_find(const json_t *value, const char *key);

/* teamd's configuration; its link watchers are xbond's delays and its ARP monitor. */

extern const struct import_key teamd_watch_keys[];

/* One watcher, or an array of them; of a port: xbond has no monitors for single slaves. */
void teamd_watch(struct import *import, const struct import_tree *tree, struct import_bond *bond,
		 const struct import_node *node, bool of_port);
/* When all watchers are taken: what it takes for a link to be up if they differ. */
void teamd_watch_policy(struct import *import, const struct import_tree *tree,
			struct import_bond *bond);

/*
 * A configuration of teamd, or with slave that of a port, that is within a file of another tool.
 * What is no JSON object refuses the bond.
 */
void teamd_take_text(struct import *import, struct import_bond *bond, struct import_slave *slave,
		     const char *json, const struct import_line *line);

/*
 * A bond of the kernel's driver, as its files show it. They show every option, so what is the
 * default for xbond, too, is left out.
 */

/* As import_apply_key(), but nothing happens if the value is xbond's default or empty. */
void kernel_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		  struct import_slave *slave, const char *value, const struct import_line *line);

/* Has sysfs of every kernel a file for it? */
bool kernel_is_in_sysfs(enum option_id id);

extern const struct import_key kernel_proc_keys[], kernel_proc_slave_keys[], kernel_ip_keys[],
	kernel_ip_slave_keys[];

/*
 * Takes a file of /proc/net/bonding. beside_sysfs: only what sysfs has no file for. Returns -EINVAL
 * with a line in err if it is no such file.
 */
int kernel_take_proc(struct import *import, const struct import_file *file, const char *name,
		     bool beside_sysfs, struct err *err);

/*
 * Takes the output of 'ip -details -json link show'; of only one bond if `only` is not NULL.
 * Returns -EINVAL with a line in err if it is none.
 */
int kernel_take_ip(struct import *import, const struct import_file *file, const char *only,
		   struct err *err);

/* Version 1 of cloud-init's network configuration: a list of devices, each with its type. */

/* Takes the bonds of a document of version 1; nothing happens if it is of another one. */
void cloud_init_take(struct import *import, struct import_tree *tree, const yaml_node_t *network);

#endif
