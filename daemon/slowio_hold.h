/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the LACP thread leaves in the map `hold` for one port, so that the programs (bpf/slow.h) can hold it while
 * bondd is away, and what it learns from there when it is back. Knows the LACP core and the ABI only; the simulator
 * uses it, too.
 */
#ifndef XBOND_DAEMON_SLOWIO_HOLD_H
#define XBOND_DAEMON_SLOWIO_HOLD_H

#include "bpf/abi.h"
#include "daemon/lacp/lacp.h"

/* The slot is a port from now on. */
void slowio_hold_begin(struct xbond_hold *hold);
/* It is none any more. */
void slowio_hold_clear(struct xbond_hold *hold);
/* After the machines have run. */
void slowio_hold_follow(struct xbond_hold *hold, const struct lacp_system *sys, unsigned int slot);
/* The LACPDU that has just been sent, XBOND_PDU_SIZE bytes. */
void slowio_hold_sent(struct xbond_hold *hold, const struct lacp_system *sys, unsigned int slot,
		      const uint8_t *frame, uint64_t now_ns);
/* Hands the PDU to the core. Returns as lacp_receive(). */
int slowio_hold_receive(struct xbond_hold *hold, struct lacp_system *sys, const struct xbond_pdu *pdu);
/* bondd was away: what the programs have done meanwhile, after all PDUs that they left for bondd. */
void slowio_hold_end(struct xbond_hold *hold, struct lacp_system *sys, unsigned int slot);

#endif
