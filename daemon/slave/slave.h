/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning a device into a slave and back. Everything that is changed is recorded in the
 * pinned slave map first, so that slave_restore() works for a bondd that was started later.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_H
#define XBOND_DAEMON_SLAVE_SLAVE_H

#include "daemon/bond/bond.h"

/*
 * Enslaves link into the free slot: records, changes, attaches the receive program. On failure the
 * device is as it was. Until slave_admit() it is half way in, and a bondd that finds it so takes it
 * out.
 */
int slave_enslave(struct bond *bond, unsigned int slot, const struct link_info *link,
		  struct err *err);
/* Its options are written: makes it a member. Does not evaluate. */
void slave_admit(struct bond *bond, unsigned int slot);

/*
 * Releases the slots of mask: takes them out of the datapath at once, waits until no program
 * uses them, restores the devices that still exist. Evaluates.
 */
void slave_release(struct bond *bond, uint64_t mask);

/* The slot's device, if it is still that; another may have got its number. */
bool slave_find_device(struct bond *bond, unsigned int slot, struct link_info *ret_link);

/* What an earlier bondd had begun with a slot that is no member: undoes it. */
void slave_undo(struct bond *bond, unsigned int slot);

/* The device was moved to another namespace: restores there what moved along. */
void slave_restore_moved_away(struct bond *bond, unsigned int slot, const struct link_info *gone);

/* The device is gone: forgets the slot without touching anything. Does not evaluate. */
void slave_forget(struct bond *bond, unsigned int slot);

/* A bondd that died may have left the member down in the middle of a change of its MAC. */
void slave_finish_mac(struct bond *bond, unsigned int slot);
/* MAC of the slave, or its unicast filter, as mac_policy and the bond's MAC ask for. */
int slave_follow_mac(struct bond *bond, unsigned int slot, struct err *err);
/* Promiscuity of the slave as bond0 needs it. */
void slave_follow_promisc(struct bond *bond, unsigned int slot);
/*
 * Name, MAC, MTU, carrier and speed of a member from a link message; puts back what is the bond's
 * to say.
 */
void slave_follow_link(struct bond *bond, unsigned int slot, const struct link_info *link);

#endif
