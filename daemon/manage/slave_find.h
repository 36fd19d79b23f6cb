/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device that a section of the configuration means: by its name, by an alternative name, or by
 * its permanent MAC address.
 */
#ifndef XBOND_DAEMON_MANAGE_SLAVE_FIND_H
#define XBOND_DAEMON_MANAGE_SLAVE_FIND_H

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

/*
 * The device with this permanent MAC address. or_present: if there is none, the one device without
 * a permanent address (veth, tap) that has it now and belongs to no bond, or else the slave that
 * had it before. Returns 0, -ENODEV, or -ENOTUNIQ if there are several.
 */
int slave_find_by_mac(struct daemon *daemon, const uint8_t *mac, bool or_present,
		      struct link_info *ret_link);
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
/*
 * Does it have the name that it will keep? Where udev runs, it renames new devices, and some
 * kernels do not let it once they are up.
 */
bool slave_find_has_name(const struct link_info *link);

#endif
