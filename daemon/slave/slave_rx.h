/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receive program of a slave: where it is attached, and how. rx_place.h has its place among
 * programs of others.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_RX_H
#define XBOND_DAEMON_SLAVE_SLAVE_RX_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* How the receive program of the slot is attached. */
enum xbond_hook slave_rx_hook(struct bond *bond, unsigned int slot);
/* Its attach point with this hook. */
struct attach_point slave_rx_point(struct bond *bond, unsigned int slot, enum xbond_hook hook);
/* Its attach point. */
struct attach_point slave_rx_now(struct bond *bond, unsigned int slot);
/*
 * Called before a filter is put there, which makes a clsact qdisc: records whether there already is
 * one.
 */
void slave_rx_record_clsact(struct bond *bond, unsigned int slot);
/* Attaches it, for the first time or again. */
int slave_rx_attach(struct bond *bond, unsigned int slot, struct err *err);
/* Is it there, and of this build? Puts it right. */
void slave_rx_check(struct bond *bond, unsigned int slot);

/*
 * rx_backlog off: in front of the receive program there is a classifier. Its action hands frames
 * that are simply the bond's to bond0 at once. The receive program handles the rest. It is then a
 * clsact filter, because TCX would come first. For a member: attaches or detaches as rx_backlog
 * says. If this is refused, the backlog is used, and the log says so.
 */
void slave_rx_skip_backlog(struct bond *bond, unsigned int slot);
/*
 * An action forgets bond0 when bond0 leaves the namespace. Call this when bond0 is back, or may be.
 */
void slave_rx_skip_backlog_all(struct bond *bond);
/* Removes it. Returns 0, also if there is none, or -errno. */
int slave_rx_drop_backlog_skip(struct bond *bond, unsigned int slot);

#endif
