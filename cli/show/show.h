/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of cli/show/ have of each other: how bonds are seen, and how they are printed from
 * the JSON objects of view/.
 */
#ifndef XBOND_CLI_SHOW_SHOW_H
#define XBOND_CLI_SHOW_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "view/view_bond.h"

/*
 * cmd_show.c: reads bonds from their pinned maps, with or without bondd. A user who may not read
 * the maps asks bondd.
 */

struct seen {
	json_t *view;
	bool forced_counted; /* something forbids `path direct` at present */
	bool is_down;	     /* administratively */
	enum view_bondd bondd;
	unsigned int back_in_s; /* it goes back then unless it is confirmed; 0: it does not */
};

/* One way of seeing a bond. */
struct sight {
	const char *method; /* the method of bondd; NULL: only the name is needed */
	json_t *(*view)(const struct cli *cli, const struct pins *pins, const char *name);
	/* For a bond of another ABI version; NULL: an error. */
	json_t *(*foreign)(const struct cli *cli, const char *name, uint32_t abi);
};

extern const struct sight sight_known; /* all of `show`, but not of another ABI version */

/* ret_seen->view is a new reference. -ENOENT: there is no such bond. */
int see_bond(const struct cli *cli, const struct sight *sight, const char *name,
	     struct seen *ret_seen, struct err *err);
/* Sorted names with NULL at the end; release them with memory_free_texts(). */
int see_names(const struct cli *cli, char ***ret_names, struct err *err);

/* text.c: what is wrong, then a table of the slaves, and options that are not at their defaults. */
void text_bond(const struct seen *seen);
/* text.c: the object of view_stats() */
void text_stats(const json_t *stats);
/*
 * text.c: options that differ from their defaults. all: also those that have an effect in the
 * bond's mode, each in a line of its own.
 */
void text_options_bond(const json_t *bond, bool forced_counted, bool all);
void text_options_slave(const json_t *bond, const json_t *slave, bool all);
/* text_details.c: a line for each process that has AF_XDP sockets on slaves */
void text_sockets(const json_t *bond);
/* text_details.c: all that is known of a bond */
void text_details_bond(const struct seen *seen);

/* proc.c: what the kernel's bonding driver would say of a bond, in /proc and in /sys. */

#define KERNEL_NO_MAC "00:00:00:00:00:00"

bool kernel_is_mode(const json_t *bond, uint32_t mode);
/* Does its mode have one of these traits (enum mode_trait)? */
bool kernel_has(const json_t *bond, uint32_t traits);
/* "up", "down", "going down" while downdelay runs, "going back" while updelay runs */
const char *kernel_link(const json_t *slave);
/* Whether the slave transmits; in modes without a choice every slave does, even without a link. */
bool kernel_is_active(const json_t *bond, const json_t *slave);
/* NULL if the option names no slave. */
const char *kernel_primary(const json_t *bond);
/* The octets of Actor_Oper_Port_State and Partner_Oper_Port_State. */
unsigned int kernel_actor_state(const json_t *lacp);
unsigned int kernel_partner_state(const json_t *lacp);

/* What the kernel assumes of a partner that it has not heard. */
#define KERNEL_NO_PARTNER_PRIO 65535
#define KERNEL_NO_PARTNER_KEY 1
#define KERNEL_NO_PARTNER_PORT 1
#define KERNEL_NO_PARTNER_PORT_PRIO 255
#define KERNEL_NO_PARTNER_STATE 1

/* proc.c: a bond as the kernel's bonding driver has it in /proc/net/bonding/BOND. */
void proc_print(const json_t *bond);

/*
 * sysfs_values.c: the contents of the kernel's files in /sys/class/net/BOND/bonding and
 * DEV/bonding_slave, and of those of both devices that checks of bonds read beside them.
 */

#define SYSFS_VALUE_SIZE 4096 /* a page, as in the kernel */

/* The i-th file's name; NULL behind the last one. ret_value: its content, with its newline. */
const char *sysfs_bond_value(const json_t *bond, unsigned int i, char ret_value[SYSFS_VALUE_SIZE]);
const char *sysfs_slave_value(const json_t *bond, const json_t *slave, unsigned int i,
			      char ret_value[SYSFS_VALUE_SIZE]);
/* Of the bond's device, or of the slave's if that is not NULL. */
const char *sysfs_device_value(const json_t *bond, const json_t *slave, unsigned int i,
			       char ret_value[SYSFS_VALUE_SIZE]);

#endif
