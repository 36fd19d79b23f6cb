/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLANs of bond0 must pass the VLAN filters of the slaves (rx-vlan-filter). A filter that can
 * be turned off is. Where it is fixed (virtio, virtual functions) each VLAN of bond0 gets a
 * VLAN device on the slave, down and without traffic, called xbv<ifindex>.<id>: only a
 * VLAN device makes the kernel open a filter. Failures are logged and not fatal.
 *
 * A VLAN device of bond0 that was moved to another namespace is out of sight: what was opened
 * for it stays until the slave leaves. While bond0 itself is in another namespace, no message
 * tells of VLANs that are made there: vlan_filter_sync() finds them, the first 256; nor of those
 * deleted there, so what was opened for them stays, too.
 */
#ifndef XBOND_DAEMON_SLAVE_VLAN_FILTER_H
#define XBOND_DAEMON_SLAVE_VLAN_FILTER_H

#include "daemon/bond/bond.h"

/* For a slave that comes: records, then opens its filter for the VLANs there are. */
void vlan_filter_open(struct bond *bond, unsigned int slot);
/* For a slave that was moved to another namespace: takes away what it has left here. */
void vlan_filter_close(struct bond *bond, unsigned int slot);
/* For a slave that leaves, and is called name by now: as it was. */
void vlan_filter_restore(struct bond *bond, unsigned int slot, const char *name);
/* For a link message of any device: opens for a VLAN of bond0, closes when it is gone. */
void vlan_filter_follow(struct bond *bond, const struct link_info *link, bool gone);
/* Is it one of these VLAN devices, on this slave? */
bool vlan_filter_is_opener(const struct link_info *link, int slave_ifindex);
/* Now and then: LRO, which such devices turn off, comes back after the last one. */
void vlan_filter_tidy(struct bond *bond);
/* Where messages may have been missed: opens for all VLANs there are; closes nothing. */
void vlan_filter_sync(struct bond *bond);

#endif
