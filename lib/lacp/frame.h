/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a slow protocol frame is laid out, and the rules by which it is judged that the core and the
 * kernel's hold (bpf/slow*.h) share. Compiled into both, so everything works on bytes in memory,
 * in any byte order that is the same on both sides, and calls nothing. Clauses are those of
 * IEEE Std 802.1AX-2014.
 */
#ifndef XBOND_LACP_FRAME_H
#define XBOND_LACP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "lacp/state.h"

#define LACP_PDU_SIZE 124 /* of LACPDU and Marker PDU, with the Ethernet header */

#define LACP_SUBTYPE_LACP 1
#define LACP_SUBTYPE_MARKER 2

/* Offsets in the body, that is, from the subtype on, of what begins with type and length. */
#define LACP_AT_ACTOR 2
#define LACP_AT_PARTNER 22
#define LACP_AT_COLLECTOR 42
#define LACP_AT_MARKER 2
#define LACP_TLV_HEADER 2

/* What the length fields say, their TLV's header included. */
#define LACP_INFO_LENGTH 20
#define LACP_COLLECTOR_LENGTH 16
#define LACP_MARKER_LENGTH 16

#define LACP_TLV_MARKER 1
#define LACP_TLV_MARKER_RESPONSE 2

/* The bytes of an information TLV, after its header. */
#define LACP_INFO_SIZE 15
#define LACP_INFO_SYSTEM 2
#define LACP_INFO_KEY 8
#define LACP_INFO_PORT_PRIORITY 10
#define LACP_INFO_PORT 12
#define LACP_INFO_STATE 14

#define LACP_RULE static inline __attribute__((always_inline))

/* Where the system and the port number of one end of a link are. */
struct lacp_end {
	const uint8_t *system;
	const uint8_t *port;
};

LACP_RULE int lacp_same(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

LACP_RULE int lacp_same_end(struct lacp_end a, struct lacp_end b)
{
	return lacp_same(a.system, b.system, LACP_MAC_SIZE) && lacp_same(a.port, b.port, 2);
}

/*
 * For a body of full length with subtype LACP. 6.4.12: version, TLV types and reserved fields are
 * not checked. Lengths may be checked, and are. No port has number 0.
 */
LACP_RULE int lacp_is_legal(const uint8_t *body)
{
	const uint8_t *port = body + LACP_AT_ACTOR + LACP_TLV_HEADER + LACP_INFO_PORT;

	return body[LACP_AT_ACTOR + 1] == LACP_INFO_LENGTH &&
	       body[LACP_AT_PARTNER + 1] == LACP_INFO_LENGTH &&
	       body[LACP_AT_COLLECTOR + 1] == LACP_COLLECTOR_LENGTH && (port[0] | port[1]);
}

/*
 * On a segment with more than two ends, a system that talks to somebody else (`to`) must not take
 * the place of a partner that talks to us. A system that does not know us yet is answered, so that
 * it will. Our partner is always heard.
 */
LACP_RULE int lacp_is_foreign(const uint8_t *to, const uint8_t *us, struct lacp_end sender,
			      struct lacp_end partner)
{
	const uint8_t nobody[LACP_MAC_SIZE] = { 0 };

	return !lacp_same(to, nobody, LACP_MAC_SIZE) && !lacp_same(to, us, LACP_MAC_SIZE) &&
	       !lacp_same_end(sender, partner);
}

/* lacp_partner; all zero believes everybody. */
LACP_RULE int lacp_is_believed(const uint8_t *believed, const uint8_t *system)
{
	const uint8_t any[LACP_MAC_SIZE] = { 0 };

	return lacp_same(believed, any, LACP_MAC_SIZE) ||
	       lacp_same(believed, system, LACP_MAC_SIZE);
}

/*
 * The protocol keeps the link up to date (6.4.9, recordPDU): by states of the sender, of ours, and
 * of ours as the sender has it.
 */
LACP_RULE int lacp_is_maintained(uint8_t sender, uint8_t ours, uint8_t seen)
{
	return (sender | (ours & seen)) & LACP_ACTIVITY;
}

/*
 * How long a partner may be silent whose port is held: the timeout that our last PDU asks for, or
 * the short one if an answer has since asked for it. A partner that does not know of the short one
 * may send every 30 s.
 */
LACP_RULE uint64_t lacp_silence_ns(uint64_t pdu_asks_ns, int answer_asks, int knows)
{
	if (!knows)
		return LACP_LONG_TIMEOUT_TIME;
	return answer_asks && pdu_asks_ns > LACP_SHORT_TIMEOUT_TIME ? LACP_SHORT_TIMEOUT_TIME
								    : pdu_asks_ns;
}

/*
 * The two slow protocol PDUs: LACPDU (6.4.2.3) and Marker PDU (6.5.3.2), as frames from the
 * destination address on. Called by the receive path, transmit and marker. Nothing in a frame is
 * trusted: the whole fixed part must be there, and length fields must have their only valid value.
 */

enum lacp_pdu_kind {
	LACP_PDU_LACP,
	LACP_PDU_MARKER,
	LACP_PDU_MARKER_RESPONSE,
	LACP_PDU_UNKNOWN, /* another slow protocol, or none */
	LACP_PDU_ILLEGAL, /* malformed, or an invalid subtype: IEEE Std 802.3 table 57A-3 */
};

struct lacp_pdu {
	struct lacp_info actor;
	struct lacp_info partner;
	/* As received. Every version has the fields of version 1 in the same places, 6.4.12. */
	uint8_t version;
};

struct lacp_marker {
	uint8_t system[LACP_MAC_SIZE];
	uint16_t port;
	uint32_t transaction;
};

struct lacp_decoded {
	enum lacp_pdu_kind kind;
	struct lacp_pdu pdu;	   /* if LACP_PDU_LACP */
	struct lacp_marker marker; /* if LACP_PDU_MARKER or _RESPONSE */
};

void lacp_pdu_decode(const uint8_t *frame, size_t length, struct lacp_decoded *ret_decoded);

/* In the form of a TLV. */
void lacp_info_encode(uint8_t bytes[LACP_INFO_SIZE], const struct lacp_info *info);

void lacp_pdu_encode(uint8_t frame[LACP_PDU_SIZE], const uint8_t source[LACP_MAC_SIZE],
		     const struct lacp_info *actor, const struct lacp_info *partner);

void lacp_marker_encode(uint8_t frame[LACP_PDU_SIZE], const uint8_t source[LACP_MAC_SIZE],
			const struct lacp_marker *marker, enum lacp_pdu_kind kind);

#endif
