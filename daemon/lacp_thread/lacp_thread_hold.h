/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the LACP thread leaves in the map `hold` for one port, so that the programs
 * (bpf/slow_hold.h) can hold it without bondd; and what it learns from there when bondd is
 * back. Knows only the LACP core and the ABI. The simulator uses it, too.
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_HOLD_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_HOLD_H

#include "bpf/abi.h"
#include "lacp/lacp.h"

/*
 * The last LACPDU that the port sent. It reaches the map together with the state that the machines
 * have then given the port.
 */
struct lacp_thread_sent {
	uint64_t sent_ns; /* 0: none */
	uint8_t pdu[XBOND_PDU_SIZE];
};

/* The slot is a port from now on. */
void lacp_thread_hold_begin(struct xbond_hold *hold);
/* The slot is no longer a port. */
void lacp_thread_hold_clear(struct xbond_hold *hold, struct lacp_thread_sent *sent);
/* Loads what an earlier bondd sent. */
void lacp_thread_hold_adopt(const struct xbond_hold *hold, struct lacp_thread_sent *ret_sent);
/* The LACPDU that has just been sent, XBOND_PDU_SIZE bytes. */
void lacp_thread_hold_sent(struct lacp_thread_sent *sent, const uint8_t *frame, uint64_t now_ns);
/*
 * Called after the machines have run: puts their decisions in force for the programs, all at once.
 */
void lacp_thread_hold_settle(struct xbond_hold *hold, const struct lacp_system *sys,
			     unsigned int slot, const struct lacp_thread_sent *sent);
/*
 * A PDU waited in the ring, and no later one was kept, so it is not known what the partner says
 * now.
 */
bool lacp_thread_hold_is_outdated(const struct xbond_hold *hold, const struct xbond_pdu *pdu);
/*
 * bondd was away: takes over what the programs have done meanwhile, after all PDUs that they left
 * for bondd.
 */
void lacp_thread_hold_end(struct xbond_hold *hold, struct lacp_system *sys, unsigned int slot);

#endif
