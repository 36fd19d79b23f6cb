/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLANs of bond0 must pass the VLAN filters of the slaves (rx-vlan-filter). A filter that can be
 * turned off is turned off. If it is fixed (virtio, virtual functions), each VLAN of bond0 gets a
 * VLAN device on the slave, because only a VLAN device makes the kernel open a filter. It is down,
 * without traffic, and named xbv<ifindex>.<id>. Failures are logged and not fatal.
 *
 * A VLAN device of bond0 that was moved to another namespace cannot be seen, so its opening stays
 * until the slave leaves. While bond0 itself is in another namespace, no message reports VLANs that
 * are made or deleted there: the first 256 of them are found from time to time; openings of deleted
 * ones stay.
 */
#ifndef XBOND_DAEMON_SLAVE_VLAN_FILTER_H
#define XBOND_DAEMON_SLAVE_VLAN_FILTER_H

#include "daemon/bond/bond.h"

/* Is it one of these VLAN devices, on this slave? */
bool vlan_filter_is_opener(const struct link_info *link, int slave_ifindex);
#endif
