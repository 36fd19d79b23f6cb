/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bond0 itself: one end of a pair whose other end, the port side, belongs to bondd, or a team.
 * Makes it and finds it wherever it was moved.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_H
#define XBOND_DAEMON_DEVICE_DEVICE_H

#include <stdint.h>

#include "daemon/bond/bond.h"

#define PORT_MTU 65535 /* of the port side: only bond0's MTU decides */

/* A name for the port side that says whose it is, xb-bond0, and is free, or that it has now. */
int device_port_name(struct nl *nl, const char *bond_name, const char *now,
		     char ret_name[XBOND_NAME_SIZE], struct err *err);
/* Whether a new bond shall be a team if the option leaves that to bondd: sets team_sends. */
void device_choose(struct nl *nl, struct xbond_bond *pin);
/* Makes it with the name of bond->dataplane; stores both ifindexes. */
int device_create(struct bond *bond, struct err *err);
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
/* It returns to its random one, because that slave was not added. Tried again at each tick. */
void device_take_back_mac(struct bond *bond);

/*
 * Somebody has given bond0 another MAC address or MTU: every slave takes it, or bond0 gets its old
 * one back, because kernel bonding would have refused it. Called by device.c with the present
 * values of bond0. The pin gets it last: a bondd that dies before leaves one that differs from
 * bond0, so the next bondd begins again. (Until then a team that counts drops what comes for a new
 * MAC address at slaves that keep their own.)
 */

void device_hear_mac(struct bond *bond, const uint8_t *mac);
/* Members that do not have the MAC address that they shall have get it. Refusals are logged. */
void device_give_mac(struct bond *bond);
void device_hear_mtu(struct bond *bond, uint32_t mtu);
/*
 * If somebody has made the MTU of the port side less than bond0's, it is put back: a veth drops
 * what is longer.
 */
void device_hear_port_mtu(struct bond *bond, uint32_t mtu, uint32_t bond_mtu);
/*
 * Alias and name of the port side follow the bond's name, and are tried again as long as the kernel
 * refuses them or another device has the name. port: as it is, or NULL; an alias of somebody else
 * stays.
 */
void device_name_port(struct bond *bond, const struct link_info *port);

/*
 * fail_over_mac: the MAC addresses of bond0 and of the slaves follow the active slave, and then the
 * failover is announced. bond_evaluate() asks for this, because it touches no device itself.
 */

extern struct part fail_over_mac_part;
/* Does what bond_evaluate() has asked for. */
void fail_over_mac_settle(struct bond *bond);
/* The bond is being adopted: what an earlier bondd has begun is due, before it is announced. */
void fail_over_mac_recall(struct bond *bond);

#endif
