/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lacp/frame.h"

#include <string.h>

#define SUBTYPE_LAST 10
#define TLV_ACTOR 1
#define TLV_PARTNER 2
#define TLV_COLLECTOR 3
#define VERSION 1

#define ETHER_SIZE 14
#define TAG_SIZE 4
#define BODY_SIZE (LACP_PDU_SIZE - ETHER_SIZE)

static const uint8_t slow_protocols[LACP_MAC_SIZE] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x02 };

static uint16_t pdu_get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void pdu_put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void pdu_get_info(const uint8_t *tlv, struct lacp_info *ret_info)
{
	const uint8_t *bytes = tlv + LACP_TLV_HEADER;

	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->system_priority = pdu_get16(bytes);
	memcpy(ret_info->system, bytes + LACP_INFO_SYSTEM, LACP_MAC_SIZE);
	ret_info->key = pdu_get16(bytes + LACP_INFO_KEY);
	ret_info->port_priority = pdu_get16(bytes + LACP_INFO_PORT_PRIORITY);
	ret_info->port = pdu_get16(bytes + LACP_INFO_PORT);
	ret_info->state = bytes[LACP_INFO_STATE];
}

void lacp_info_encode(uint8_t bytes[LACP_INFO_SIZE], const struct lacp_info *info)
{
	pdu_put16(bytes, info->system_priority);
	memcpy(bytes + LACP_INFO_SYSTEM, info->system, LACP_MAC_SIZE);
	pdu_put16(bytes + LACP_INFO_KEY, info->key);
	pdu_put16(bytes + LACP_INFO_PORT_PRIORITY, info->port_priority);
	pdu_put16(bytes + LACP_INFO_PORT, info->port);
	bytes[LACP_INFO_STATE] = info->state;
}

static void pdu_put_info(uint8_t *tlv, uint8_t type, const struct lacp_info *info)
{
	tlv[0] = type;
	tlv[1] = LACP_INFO_LENGTH;
	lacp_info_encode(tlv + LACP_TLV_HEADER, info);
}

/* The body, after a VLAN tag with id 0 if there is one; NULL: not a slow protocol frame. */
static const uint8_t *pdu_find_body(const uint8_t *frame, size_t length, size_t *ret_length)
{
	size_t at = ETHER_SIZE;

	if (length < ETHER_SIZE + 1)
		return NULL;
	if (pdu_get16(frame + 12) == 0x8100) {
		at += TAG_SIZE;
		if (length < at + 1 || pdu_get16(frame + ETHER_SIZE) & 0xfff)
			return NULL;
	}
	if (memcmp(frame, slow_protocols, LACP_MAC_SIZE) != 0 ||
	    pdu_get16(frame + at - 2) != 0x8809)
		return NULL;
	*ret_length = length - at;
	return frame + at;
}

static enum lacp_pdu_kind pdu_decode_lacp(const uint8_t *body, struct lacp_pdu *ret_pdu)
{
	if (!lacp_is_legal(body))
		return LACP_PDU_ILLEGAL;
	ret_pdu->version = body[1];
	pdu_get_info(body + LACP_AT_ACTOR, &ret_pdu->actor);
	pdu_get_info(body + LACP_AT_PARTNER, &ret_pdu->partner);
	return LACP_PDU_LACP;
}

static enum lacp_pdu_kind pdu_decode_marker(const uint8_t *body, struct lacp_marker *ret_marker)
{
	const uint8_t *tlv = body + LACP_AT_MARKER;

	if (tlv[1] != LACP_MARKER_LENGTH ||
	    (tlv[0] != LACP_TLV_MARKER && tlv[0] != LACP_TLV_MARKER_RESPONSE))
		return LACP_PDU_ILLEGAL;
	ret_marker->port = pdu_get16(tlv + 2);
	memcpy(ret_marker->system, tlv + 4, LACP_MAC_SIZE);
	ret_marker->transaction = (uint32_t)pdu_get16(tlv + 10) << 16 | pdu_get16(tlv + 12);
	return tlv[0] == LACP_TLV_MARKER ? LACP_PDU_MARKER : LACP_PDU_MARKER_RESPONSE;
}

void lacp_pdu_decode(const uint8_t *frame, size_t length, struct lacp_decoded *ret_decoded)
{
	size_t body_length = 0;
	const uint8_t *body = pdu_find_body(frame, length, &body_length);

	memset(ret_decoded, 0, sizeof(*ret_decoded));
	if (!body)
		ret_decoded->kind = LACP_PDU_UNKNOWN;
	else if (!body[0] || body[0] > SUBTYPE_LAST)
		ret_decoded->kind = LACP_PDU_ILLEGAL;
	else if (body[0] != LACP_SUBTYPE_LACP && body[0] != LACP_SUBTYPE_MARKER)
		ret_decoded->kind = LACP_PDU_UNKNOWN;
	else if (body_length < BODY_SIZE)
		ret_decoded->kind = LACP_PDU_ILLEGAL;
	else if (body[0] == LACP_SUBTYPE_LACP)
		ret_decoded->kind = pdu_decode_lacp(body, &ret_decoded->pdu);
	else
		ret_decoded->kind = pdu_decode_marker(body, &ret_decoded->marker);
}

static uint8_t *pdu_start_frame(uint8_t frame[LACP_PDU_SIZE], const uint8_t source[LACP_MAC_SIZE],
				uint8_t subtype)
{
	memset(frame, 0, LACP_PDU_SIZE);
	memcpy(frame, slow_protocols, LACP_MAC_SIZE);
	memcpy(frame + LACP_MAC_SIZE, source, LACP_MAC_SIZE);
	pdu_put16(frame + 12, 0x8809);
	frame[ETHER_SIZE] = subtype;
	frame[ETHER_SIZE + 1] = VERSION;
	return frame + ETHER_SIZE;
}

/* CollectorMaxDelay is 0, because the collector delivers at once. */
void lacp_pdu_encode(uint8_t frame[LACP_PDU_SIZE], const uint8_t source[LACP_MAC_SIZE],
		     const struct lacp_info *actor, const struct lacp_info *partner)
{
	uint8_t *body = pdu_start_frame(frame, source, LACP_SUBTYPE_LACP);

	pdu_put_info(body + LACP_AT_ACTOR, TLV_ACTOR, actor);
	pdu_put_info(body + LACP_AT_PARTNER, TLV_PARTNER, partner);
	body[LACP_AT_COLLECTOR] = TLV_COLLECTOR;
	body[LACP_AT_COLLECTOR + 1] = LACP_COLLECTOR_LENGTH;
}

void lacp_marker_encode(uint8_t frame[LACP_PDU_SIZE], const uint8_t source[LACP_MAC_SIZE],
			const struct lacp_marker *marker, enum lacp_pdu_kind kind)
{
	uint8_t *tlv = pdu_start_frame(frame, source, LACP_SUBTYPE_MARKER) + LACP_AT_MARKER;

	tlv[0] = kind == LACP_PDU_MARKER ? LACP_TLV_MARKER : LACP_TLV_MARKER_RESPONSE;
	tlv[1] = LACP_MARKER_LENGTH;
	pdu_put16(tlv + 2, marker->port);
	memcpy(tlv + 4, marker->system, LACP_MAC_SIZE);
	pdu_put16(tlv + 10, (uint16_t)(marker->transaction >> 16));
	pdu_put16(tlv + 12, (uint16_t)marker->transaction);
}
