/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two slow protocol PDUs: LACPDU (6.4.2.3) and Marker PDU (6.5.3.2), as frames from the
 * destination address on. Called by the receive path, transmit and marker. Nothing in a frame is
 * trusted: the whole fixed part must be there, and length fields must have their only valid value.
 */
#ifndef XBOND_LACP_PDU_H
#define XBOND_LACP_PDU_H

#include <stddef.h>
#include <stdint.h>

#include "lacp/frame.h"

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
