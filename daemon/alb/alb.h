/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive balancing of balance-alb: shares out the clients anew when slaves fail, leave, join or
 * come back, and tells the clients. A round reads the whole pinned map, decides, and then writes
 * and sends in steps, so that a full map does not hold up the main loop. What a bondd has left
 * undone the map tells the next one.
 */
#ifndef XBOND_DAEMON_ALB_ALB_H
#define XBOND_DAEMON_ALB_ALB_H

#include "common/readings.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/part.h"
#include "network/ip.h"

extern struct part clients_part;

/* Does what is due. Called at each tick, and when addresses have changed. */
void client_rounds_settle(struct bond *bond);
/* A link has changed: bond0 may have become a port of a bridge, or may be none any more. */
void client_rounds_note_link(struct bond *bond, const struct link_info *link);
/*
 * A device has an IP address, or has it no longer. If no other device has it, bondd must not tell
 * anybody of it: another host may have it.
 */
void client_rounds_note_address(struct bond *bond, const struct address *address, bool is_gone);

/*
 * Learning packets of balance-tlb and balance-alb, by which switches know where an address is,
 * untagged and in each VLAN that bond0 sends in. From the address to itself they reach the next
 * switch, which keeps them; when slaves' addresses have moved, they are broadcasts, and reach all.
 * Called by the main loop.
 */

extern struct part learning_part;

/* Sends them if they are due. Called at each tick. */
void learning_settle(struct bond *bond);
/* Addresses have moved to other slaves: begins at once. */
void learning_now(struct bond *bond);
/*
 * Is it the active slave, and shall it hear for a while what is for the addresses of slaves that
 * have just lost their links?
 */
bool learning_stands_in(struct bond *bond, unsigned int slot);

/*
 * What a round does with each client of balance-alb: which ones are forgotten, to which slave each
 * of the others is to send, and who has to be told. client_rounds.c reads and writes the map of
 * clients, and sends.
 */

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
	bool tells_again;   /* those who have been told, but not often enough */
	bool has_been_full; /* the map, and that was said */
	uint8_t slot[XBOND_MAX_CLIENTS], what[XBOND_MAX_CLIENTS];
};

#define CLIENT_RETELL_DUE 1

/* Do neighbours learn the addresses of slaves? In other modes all are told bond0's address. */
bool client_plan_receives(struct bond *bond);
void client_plan_read_slaves(struct bond *bond, struct client_slaves *ret_slaves);
/*
 * From slaves, entries, count and tells_again. retell_ns: broadcasts up to then are made good now;
 * 0: none; CLIENT_RETELL_DUE: only answers are.
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
