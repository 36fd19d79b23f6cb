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
	bool falls_back; /* other_config:lacp-fallback-ab */
};

bool ovs_knows_mode(const char *mode);
void ovs_set_mode(struct import *import, struct import_bond *bond, const struct ovs_mode *ovs);
/*
 * The mode and all other settings of a port, as ovs-vsctl takes them: words "bond_mode=balance-slb"
 * or "other_config:lacp-time=fast". Without them it has the defaults of Open vSwitch.
 */
void ovs_take_settings(struct import *import, struct import_bond *bond, const char *words,
		       const struct import_line *line);
/* A setting in other_config of a port whose mode is set; lacp-fallback-ab is not one. */
void ovs_take_other_config(struct import *import, struct import_bond *bond, const char *name,
			   const char *value, const struct import_line *line);
/* Why this option of a bond whose mode is set has no effect; NULL: it has one. */
const char *ovs_ignores(const struct import_bond *bond, enum option_id id);

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

/* The profiles of NetworkManager, of keyfiles and of ifcfg files alike. */

/* Of an ifcfg file, what is not of the bond is in the section "ifcfg". */
struct nm_profile {
	struct import_ini ini;
	bool is_ifcfg;
	const char *type; /* "bond", "ethernet" and so on; "" if it does not say */
	const char *interface, *id, *uuid;
	const struct import_ini_entry *controller; /* NULL: none */
};

struct nm_profiles {
	struct nm_profile *list;
	size_t count;
	struct import_index bonds; /* their profiles, by all names that they have */
};

/* What becomes a bond of xbond: also teams, and bonds of Open vSwitch. */
bool nm_is_bond(const char *type);

/*
 * Adds what an ifcfg file has. A line whose meaning only the shell knows is in the section of this
 * name, and its value says why.
 */
#define NM_UNCLEAR "unclear"
void nm_read_ifcfg(struct import *import, const struct import_file *file, struct import_ini *ini);

/* The files of NetworkManager, or those that are given. Returns -errno, with a line in err. */
int nm_read_profiles(struct import *import, const struct import_request *request,
		     struct nm_profiles *profiles, struct err *err);

/* The stanzas of interfaces(5), of a file and of those that it sources. Knows nothing of bonds. */

#define IFUPDOWN_BLANKS " \t"

struct ifupdown_option {
	const char *key, *value;
	struct import_line line;
};

/* "iface NAME ...". Of every other stanza (auto, mapping) only the names behind auto are kept. */
struct ifupdown_stanza {
	const char *name;     /* NULL: a template, which is no interface */
	const char *template; /* its name, by which others inherit */
	const char *inherits; /* NULL: nothing */
	bool is_inherited;    /* by another one; set by ifupdown_inherit() */
	bool is_manual;	      /* the method configures no address */
	struct import_line line;
	const struct import_line *computed; /* by a line of a template language; NULL: it is not */
	struct ifupdown_option *options;
	size_t count;
};

struct ifupdown_stanzas {
	struct import *import;
	struct ifupdown_stanza *list;
	size_t count;
	unsigned int file_count;
	const char **autos;
	size_t auto_count;
};

/* A file, or all files of a directory, NAME.cfg too. Returns -errno, with a line in err. */
int ifupdown_read_stanzas(struct ifupdown_stanzas *stanzas, const char *path, struct err *err);
/* Whether its value is for the shell. */
bool ifupdown_is_command(const char *key);
/* Whether ifupdown brings it up at boot. */
bool ifupdown_is_auto(const struct ifupdown_stanzas *stanzas, const char *name);
/* When all are read: stanzas get the options that they inherit. */
void ifupdown_inherit(struct ifupdown_stanzas *stanzas);

/*
 * The commands of a stanza (pre-up, up, post-up) that set up bonds of the kernel's driver:
 * ifenslave, modprobe bonding, ip link, and echo into files of sysfs. Runs nothing and knows no
 * shell: a command that is more than plain words is not understood.
 */

/* What a command sets: an option by the driver's name, "slaves", or nothing but the bond. */
struct ifupdown_setting {
	const char *bond; /* NULL: a parameter of the module, for all bonds that do not set it */
	const char *key;  /* NULL: the command makes the bond */
	const char *value;
};

struct ifupdown_command {
	struct ifupdown_setting *settings;
	size_t count;
	bool is_bonding;	  /* it speaks to the driver */
	const char *not_clear;	  /* the part that was not understood; NULL: all was */
	bool is_about_what_it_is; /* that part could set the mode or slaves */
};

/* iface: the stanza's interface, which commands call $IFACE. */
void ifupdown_command_read(struct import *import, const char *text, const char *iface,
			   struct ifupdown_command *ret_command);

/*
 * Options of a bond in interfaces(5), as lines bond-NAME and as commands, with the tolerance of
 * ifenslave and of the kernel's driver behind it. Knows nothing of how stanzas belong together.
 */

/* Those of bond-NAME that the kernel's driver does not have. */
extern const struct import_key ifupdown_keys[];

/* Words up to one that begins with '#'. */
void ifupdown_slaves(struct import *import, struct import_bond *bond, const char *value,
		     const struct import_line *line);
/* name: without "bond-", as the driver spells it. */
void ifupdown_bond_option(struct import *import, struct import_bond *bond, const char *name,
			  const struct ifupdown_option *option);
/*
 * Does what a command says, to all bonds that it names and that are known. bond: of the stanza, or
 * NULL.
 */
void ifupdown_bond_command(struct import *import, struct import_bond *bond,
			   const struct ifupdown_stanza *stanza,
			   const struct ifupdown_option *option);
/*
 * Parameters of the module, which are for all bonds that do not set them. To be called after all
 * ifupdown_bond_command(). has_own_mode: for each bond, whether it set its mode before these calls.
 */
void ifupdown_module_option(struct import *import, const struct ifupdown_stanza *stanza,
			    const struct ifupdown_option *option, const bool *has_own_mode);
/*
 * What ifupdown2's policies on this machine say, for all bonds that do not say it themselves.
 * Returns -errno, with a line in err.
 */
int ifupdown_read_policies(struct import *import, struct err *err);
/* Whether ifupdown_bond_command() has something to do, or to say. */
bool ifupdown_is_bond_command(struct import *import, const struct ifupdown_stanza *stanza,
			      const struct ifupdown_option *option);

#endif
