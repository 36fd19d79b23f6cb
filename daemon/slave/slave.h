/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a device into a slave and back. Every change is first recorded in the pinned slave map, so
 * that slave_restore() also works for a later bondd.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_H
#define XBOND_DAEMON_SLAVE_SLAVE_H

#include "daemon/bond/bond.h"

/*
 * Enslaves link into the free slot: records, changes, attaches the receive program. On failure the
 * device is as it was. Until slave_admit() it is not yet a member, and a bondd that finds it so
 * releases it.
 */
int slave_enslave(struct bond *bond, unsigned int slot, const struct link_info *link,
		  struct err *err);
/*
 * What cannot wait until the parts of a member that the last bondd has left are settled. LACP
 * learns of a carrier that was lost meanwhile.
 */
void slave_adopt(struct bond *bond, unsigned int slot, const struct link_info *link);
/* Makes it a member, after its options have been written. Does not evaluate. */
void slave_admit(struct bond *bond, unsigned int slot);

/*
 * Releases the slots of mask: takes them out of the datapath at once, waits until no program uses
 * them, and restores the devices that still exist. Evaluates.
 */
void slave_release(struct bond *bond, uint64_t mask);

/*
 * Before a member is released because somebody has deleted bond0: if the slave has addresses or a
 * master, it is used in bond0's place by now, so it stays up.
 */
void slave_keep_used(struct bond *bond, unsigned int slot);

/*
 * The device of the slot. Returns 0; -ENODEV if it is gone, and maybe another one has its number;
 * another -errno if that cannot be found out.
 */
int slave_find_device(struct bond *bond, unsigned int slot, struct link_info *ret_link);

/*
 * Undoes what was begun with a slot that is not a member, and frees it. If something cannot be
 * restored, it returns -errno and says what once, and the slot keeps its record.
 */
int slave_undo(struct bond *bond, unsigned int slot);
/* Tries again, with growing pauses, at each tick. Returns true while there is something left. */
bool slave_undo_left(struct bond *bond);

/* The same at once, without a pause. */
void slave_undo_now(struct bond *bond);

/* The device was moved to another namespace: restores there what moved along. */
void slave_restore_moved_away(struct bond *bond, unsigned int slot, const struct link_info *gone);

/* The device is gone: forgets the slot without touching anything. Does not evaluate. */
void slave_forget(struct bond *bond, unsigned int slot);

/*
 * A bondd that died may have left the member down in the middle of a change of its MAC: brings it
 * up.
 */
void slave_mac_finish(struct bond *bond, unsigned int slot);
/* Sets the slave's MAC, or its unicast filter, by mac_policy and the bond's MAC. */
int slave_mac_set(struct bond *bond, unsigned int slot, struct err *err);
bool slave_has_addresses(struct bond *bond, unsigned int slot);
/* Takes name, carrier and speed of a member from a link message. Parts hear it after that. */
void slave_hear(struct bond *bond, unsigned int slot, const struct link_info *link);

/* gone: the message that reported it, or NULL. The slot is free afterwards. */
void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone);
/* Nobody knows whether it was moved: the log names the address that it would have there. */
void slave_lost_tell_mac(struct bond *bond, unsigned int slot);
/*
 * If bond0 is a team, and somebody has taken the member out of it: releases it, as with kernel
 * bonding. link: a message. Returns true if so; the slot is free then.
 */
bool slave_has_left(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * Compares every slave of the bond with its device. Some may be lost, others may have changed.
 * Those that were not released wholly are tried again.
 */
void slave_lost_look(struct bond *bond);

#endif
