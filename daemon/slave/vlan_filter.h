/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLANs of bond0 must pass the VLAN filters of the slaves (rx-vlan-filter). A filter that can be
 * turned off is turned off. If it is fixed (virtio, virtual functions), each VLAN of bond0 gets a
 * VLAN device on the slave, because only a VLAN device makes the kernel open a filter. It is down,
 * without traffic, and named xbv<ifindex>.<id>. Failures are logged and not fatal.
 *
 * A VLAN device of bond0 that was moved to another namespace cannot be seen, so its opening stays
 * until the slave leaves. While bond0 itself is in another namespace, no message reports VLANs that
 * are made or deleted there. vlan_filter_sync() finds the first 256 of them; openings of deleted
 * ones stay.
 */
#ifndef XBOND_DAEMON_SLAVE_VLAN_FILTER_H
#define XBOND_DAEMON_SLAVE_VLAN_FILTER_H

#include "daemon/bond/bond.h"

/* For a new slave: records, then opens its filter for the existing VLANs. */
void vlan_filter_open(struct bond *bond, unsigned int slot);
/* For a slave that was moved to another namespace: removes what it has left here. */
void vlan_filter_close(struct bond *bond, unsigned int slot);
/* For a slave that leaves, and now has this name: restores it. */
void vlan_filter_restore(struct bond *bond, unsigned int slot, const char *name);
/*
 * For a link message of any device: opens the filter for a VLAN of bond0, or closes it when the
 * VLAN has gone.
 */
void vlan_filter_follow(struct bond *bond, const struct link_info *link, bool gone);
/* Is it one of these VLAN devices, on this slave? */
bool vlan_filter_is_opener(const struct link_info *link, int slave_ifindex);
/* From time to time: restores LRO, which such devices turn off, after the last one has gone. */
void vlan_filter_tidy(struct bond *bond);
/*
 * Called if messages may have been missed: opens the filter for all existing VLANs; closes nothing.
 */
void vlan_filter_sync(struct bond *bond);

#endif
