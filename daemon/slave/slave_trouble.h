/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches for things that others do to a member and that add-slave would have refused: a master, IP
 * addresses, devices on it. bondd does not undo them, because the bond works on and they belong to
 * somebody else. It reports each once, and keeps it in the pinned slave for `show` until it has
 * gone.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_TROUBLE_H
#define XBOND_DAEMON_SLAVE_SLAVE_TROUBLE_H

#include "daemon/bond/bond.h"

/* Called if messages may have been missed: checks addresses of every member, and devices on it. */
void slave_trouble_look(struct bond *bond);
/* For a link message of the member. */
void slave_trouble_follow_master(struct bond *bond, unsigned int slot,
				 const struct link_info *message);
/* The same. Somebody holds the slave down, for `why`. */
void slave_trouble_follow_protodown(struct bond *bond, unsigned int slot,
				    const struct link_info *message);
/* For a link message of any other device. */
void slave_trouble_follow_upper(struct bond *bond, const struct link_info *upper, bool gone);
/* For an address that the member has got, or that is gone. */
void slave_trouble_follow_address(struct bond *bond, unsigned int slot, bool gone);

#endif
