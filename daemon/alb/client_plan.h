/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a round does with each client of balance-alb: which ones are forgotten, to which slave each
 * of the others is to send, and who has to be told. client_rounds.c reads and writes the map of
 * clients, and sends.
 */
#ifndef XBOND_DAEMON_ALB_CLIENT_PLAN_H
#define XBOND_DAEMON_ALB_CLIENT_PLAN_H

#include "common/readings.h"
#include "daemon/bond/bond.h"

/* WRITE: into the map. TELL: the client, too. */
enum client_what { CLIENT_KEEP, CLIENT_FORGET, CLIENT_WRITE, CLIENT_TELL };

/*
 * The slaves that work, not drained unless all are, and the address by which each receives; 0: none
 * of its own now.
 */
struct client_slaves {
	uint64_t working, mac[XBOND_MAX_SLAVES], bond_mac;
};

struct client_plan {
	struct client_slaves slaves;
	struct client_entry *entries; /* what is written is in them */
	int count;
	uint8_t slot[XBOND_MAX_CLIENTS], what[XBOND_MAX_CLIENTS];
};

#define CLIENT_RETELL_DUE 1

/* Do neighbours learn the addresses of slaves? In other modes all are told bond0's address. */
bool client_plan_receives(struct bond *bond);
void client_plan_read_slaves(struct bond *bond, struct client_slaves *ret_slaves);
/*
 * From slaves, entries and count. retell_ns: broadcasts up to then are made good now; 0: none;
 * CLIENT_RETELL_DUE: only answers are.
 */
void client_plan_make(struct bond *bond, struct client_plan *plan, uint64_t now_ns,
		      uint64_t retell_ns);

/*
 * Whose IP addresses may have clients. If bond0, or a VLAN on it, is a port of a bridge, machines
 * behind the bridge can send with bond0's MAC address. Then bondd marks the addresses of this host
 * in the map of clients, and the programs take no others. Called by client_rounds.c.
 */

/*
 * Brings the marks up to date and removes the clients that must not be. Returns 1 if only marked
 * addresses may have clients, 0 if all may, or -errno.
 */
int client_marks_settle(struct bond *bond, uint64_t now_ns);

#endif
