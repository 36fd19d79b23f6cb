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
 * Do others have filters or programs at bond0's TC egress after ours? For a bond in this namespace.
 */
bool port_hooks_skip_filters(struct bond *bond);
/*
 * A netkit has a program at bond0's TC egress only for `path direct` and while a slave has a
 * queue_id.
 */
void port_hooks_follow(struct bond *bond);

#endif
