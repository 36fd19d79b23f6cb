/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bond0 itself: one end of a pair whose other end, the port side, belongs to bondd, or a team.
 * Makes it and finds it wherever it was moved.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_H
#define XBOND_DAEMON_DEVICE_DEVICE_H

#include "daemon/bond/bond.h"

/* A free name for the port side that says whose it is: xb-bond0. */
int device_port_name(struct nl *nl, const char *bond_name, char ret_name[XBOND_NAME_SIZE],
		     struct err *err);
/* Makes it with the name of bond->dataplane; stores both ifindexes. */
int device_create(struct bond *bond, struct err *err);
/* Is this device the bond's? Another team may have got its number. */
bool device_is_our_team(const struct xbond_bond *pin, const struct link_info *device);
/*
 * Removes the device of a bond that is being created or deleted. Returns 0, also if there is none,
 * or -errno: it may be there.
 */
int device_remove(struct nl *nl, const struct xbond_bond *pin);

/*
 * Finds out where bond0 is and what has changed on it, and makes the bond and its slaves follow:
 * name, MAC, MTU, promiscuity, qdisc, namespace. -ENODEV: the pair is gone.
 */
int device_sync(struct bond *bond);
/* bond0 has been in another namespace, or may have been, even if it is back now. */
void device_note_left(struct bond *bond);
/* The first slave's MAC becomes that of the bond, or the bond returns to its random one. */
int device_set_mac(struct bond *bond, const uint8_t *mac, struct err *err);

#endif
