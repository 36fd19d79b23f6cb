/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CONFIG_DIR/BOND.conf (xbond.conf(5)) at start and for `load`: makes the bonds that do not exist.
 * Slaves that a file names but that are not there yet are added when they appear; which device a
 * section means is found out here, too. apply.h changes bonds that run.
 */
#ifndef XBOND_DAEMON_MANAGE_CONFIG_H
#define XBOND_DAEMON_MANAGE_CONFIG_H

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

/*
 * Called after adoption. A mistake in a file is reported as file:line, and nothing of that file is
 * applied.
 */
void config_apply_all(struct daemon *daemon);
/* The same for one bond. */
void config_apply(struct daemon *daemon, const char *name);
/*
 * theirs: where a bondctl has its configuration; NULL: it does not say. -EINVAL: another directory
 * than ours, so it would show files that are not applied.
 */
int config_check_dir(const struct daemon *daemon, const char *theirs, struct err *err);
/* The bond's file. Logs every mistake. */
int config_read(struct daemon *daemon, const char *bond, struct config_file *ret_file,
		struct err *err);
/*
 * Makes the bond with its slaves, and brings it up if option up says so. What a bondd that dies
 * meanwhile has made is removed.
 */
int config_create(struct daemon *daemon, const char *name, const struct config_file *file,
		  struct err *err);

/*
 * Adds awaited slaves (bond/awaited.h) when their device appears: under the name in the
 * configuration, or under another name if the NIC is the same by its permanent MAC address. A slave
 * that is refused is tried again when there is news of it.
 */

/* A device has appeared: adds it if it is awaited under this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* Tries every awaited slave whose device is there: at start, and after messages were lost. */
void config_look_again(struct daemon *daemon);
/*
 * Called twice a second: adds NICs that came back under another name, after udev has had the time
 * to rename them.
 */
void config_wait_tick(struct daemon *daemon);

/*
 * The device that a section of the configuration means: by its name, by an alternative name, or by
 * its permanent MAC address.
 */

/*
 * The device of a section. One with a name and a MAC address is a slave that was there before: by
 * name, or else by its address. -ENODEV: it is not there. -ENOTUNIQ: slave_find_is_unclear() says
 * so.
 */
int slave_find(struct bond *bond, const struct config_slave *slave, struct link_info *ret_link);
/* Returns -ENOTUNIQ, with a line in err. */
int slave_find_is_unclear(const struct config_slave *slave, struct err *err);
/* The same before there is a bond. */
int slave_find_new(struct daemon *daemon, const struct config_slave *slave,
		   struct link_info *ret_link);

#endif
