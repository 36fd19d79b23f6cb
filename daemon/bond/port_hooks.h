/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the programs of a bond's own pair are attached: the selecting program at the port side and,
 * where needed, another at bond0's egress. Called when a bond is made, when its settings change,
 * and when the attachments are checked.
 */
#ifndef XBOND_DAEMON_BOND_PORT_HOOKS_H
#define XBOND_DAEMON_BOND_PORT_HOOKS_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* For a new bond: chooses TCX or clsact, and attaches the programs of both ends. */
int port_hooks_attach(struct bond *bond, struct err *err);
/* The attach point of bond0's program (egress) or of the port side's. */
struct attach_point port_hooks_point(struct bond *bond, bool egress);
/* For a bond in this namespace: does an ingress qdisc stand in the place of clsact? */
int port_hooks_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err);
/* A netkit selects in its transmit function, where only the packet's queue_mapping is lost. */
bool port_hooks_need_egress(struct bond *bond);
/*
 * A netkit has a program at bond0's TC egress only for `path direct` and while a slave has a
 * queue_id.
 */
void port_hooks_settle(struct bond *bond);

/*
 * What `direct` must not go past on bond0: captures, a root qdisc, filters, an XDP program. Finds
 * captures and filters; device.c sees the others. While there is any of these, the bond is
 * forced to counted.
 */

extern struct part bypass_part;

/* Finds out on which bonds somebody captures; evaluates the bonds where that has changed. */
void bypass_read_captures(struct daemon *daemon);
/*
 * Asks the kernel whether others have filters at bond0's egress, and logs a change. While bond0 is
 * away, the last answer counts. Returns true if it has changed; does not evaluate.
 */
bool bypass_look_for_filters(struct bond *bond);
/* Is `direct` forbidden now, whatever the settings say? */
bool bypass_forbids_direct(struct bond *bond);

#endif
