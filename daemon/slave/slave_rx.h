/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receive program of a slave: where it is attached, and attaching it there. Where it stands
 * among the programs of others: rx_place.h.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_RX_H
#define XBOND_DAEMON_SLAVE_SLAVE_RX_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* What the receive program of the slot is attached by. */
enum xbond_hook slave_rx_hook(struct bond *bond, unsigned int slot);
/* Where it would be by this hook. */
struct attach_point slave_rx_point(struct bond *bond, unsigned int slot, enum xbond_hook hook);
/* Where it is. */
struct attach_point slave_rx_now(struct bond *bond, unsigned int slot);
/* Before a filter is put there, which makes a clsact qdisc: records whether there is one. */
void slave_rx_record_clsact(struct bond *bond, unsigned int slot);
/* Attaches it, for the first time or anew. */
int slave_rx_attach(struct bond *bond, unsigned int slot, struct err *err);
/*
 * Takes off the classifier that stands before it while rx_backlog is off (backlog_skip.h), if it is
 * there.
 */
void slave_rx_drop_backlog_skip(struct bond *bond, unsigned int slot);

#endif
