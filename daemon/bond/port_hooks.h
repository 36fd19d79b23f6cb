/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the programs of a bond's own pair are attached: the selecting one at the port side, and
 * another at bond0's egress where that is needed. Called when a bond is made, when its settings
 * change, and by who looks whether the programs are still there.
 */
#ifndef XBOND_DAEMON_BOND_PORT_HOOKS_H
#define XBOND_DAEMON_BOND_PORT_HOOKS_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* Of a new bond: chooses TCX or clsact, and attaches the programs of both ends. */
int port_hooks_attach(struct bond *bond, struct err *err);
/* Where the program of bond0 (egress) or that of the port side is. */
struct attach_point port_hooks_point(struct bond *bond, bool egress);
/* Of a bond in this namespace: an ingress qdisc may be in the way of clsact. */
int port_hooks_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err);
/* A netkit selects in its transmit function, where only the packet's queue_mapping is lost. */
bool port_hooks_need_egress(struct bond *bond);
/*
 * Others have filters or programs on bond0's TC egress that come after ours. Of a bond in this
 * namespace.
 */
bool port_hooks_skip_filters(struct bond *bond);
/*
 * A netkit has a program on bond0's TC egress only for `path direct` and while a slave has a
 * queue_id.
 */
void port_hooks_follow(struct bond *bond);

#endif
