/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bond0 itself: one end of a pair whose port side is bondd's. Makes it, finds it wherever it has
 * been moved to, follows what people do with it by `ip link`.
 */
#ifndef XBOND_DAEMON_DEVICE_H
#define XBOND_DAEMON_DEVICE_H

#include <string.h>

#include "daemon/attach.h"
#include "daemon/bond.h"

#define DEVICE_PORT_ALIAS "xbond: port side of "

/* Is it the port side of some bond, of this bondd or another? */
static inline bool device_is_port(const struct link_info *link)
{
	return !strncmp(link->alias, DEVICE_PORT_ALIAS, strlen(DEVICE_PORT_ALIAS));
}

/* A free name for the port side that tells whose it is: xb-bond0. */
int device_port_name(struct nl *nl, const char *bond_name, char ret_name[XBOND_NAME_SIZE],
		     struct err *err);
/* Makes the pair of bond->dataplane's name; stores both ifindexes. */
int device_create(struct bond *bond, struct err *err);
/* Of a new bond: chooses TCX or clsact, and attaches the programs of both ends. */
int device_attach(struct bond *bond, struct err *err);
/* Where the program of bond0 (egress) or that of the port side is. */
struct attach_point device_attach_point(struct bond *bond, bool egress);
/* Of a bond in this namespace: an ingress qdisc may be in the way of clsact. */
int device_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err);
/* A netkit selects in its transmit function, where only the packet's queue_mapping is lost. */
bool device_needs_egress(struct bond *bond);
/*
 * Others have filters or programs on bond0's TC egress that come after ours. Of a bond in this
 * namespace.
 */
bool device_skips_filters(struct bond *bond);
/*
 * A netkit has a program on bond0's TC egress only for `path direct` and while a slave has a
 * queue_id.
 */
void device_follow_settings(struct bond *bond);
/* Removes the pair of a bond that is being created or deleted, if it is there. */
void device_remove(struct nl *nl, const struct xbond_bond *pin);

/*
 * Looks where bond0 is and what it is like, and lets the bond and its slaves follow: name,
 * MAC, MTU, promiscuity, qdisc, namespace. -ENODEV: the pair is gone.
 */
int device_sync(struct bond *bond);
/* The first slave's MAC becomes the bond's, or the bond goes back to the random one. */
int device_set_mac(struct bond *bond, const uint8_t *mac, struct err *err);

#endif
