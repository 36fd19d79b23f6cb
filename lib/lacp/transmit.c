/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is sent, and when: the Periodic Transmission machine, the Transmit machine, and markers. And
 * frames as octets, in both directions.
 */
#include <string.h>

#include "lacp/frame.h"
#include "lacp/machines.h"

/*
 * Periodic Transmission machine (6.4.13): how often the partner wants to hear from us, and whether
 * one of the two speaks without being asked. Called by system.c.
 */

static bool periodic_is_forced_off(const struct lacp_port_state *port)
{
	return !port->config.link || !lacp_enabled(&port->config) ||
	       !((port->actor.state | port->partner.state) & LACP_ACTIVITY);
}

/*
 * The link works, but the port has just become passive or was stopped. The partner is told several
 * times.
 */
static bool periodic_says_goodbye(const struct lacp_port_state *port)
{
	return port->farewell && port->periodic == LACP_PERIODIC_NONE &&
	       (port->config.link || port->stopped);
}

/*
 * FAST ends with a PDU: until it has heard one, a partner that has asked for the long timeout may
 * still count by the short one.
 */
int lacp_periodic_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	enum lacp_periodic_state state = port->periodic;
	bool fast = port->partner.state & LACP_TIMEOUT, due = lacp_due(port->periodic_ns, now_ns);

	if (periodic_is_forced_off(port))
		return state == LACP_PERIODIC_NONE ? LACP_STAY : LACP_PERIODIC_NONE;
	switch (state) {
	case LACP_PERIODIC_NONE: return LACP_PERIODIC_FAST;
	case LACP_PERIODIC_FAST: return due ? LACP_PERIODIC_TX : LACP_STAY;
	case LACP_PERIODIC_SLOW: return due || fast ? LACP_PERIODIC_TX : LACP_STAY;
	case LACP_PERIODIC_TX: return fast ? LACP_PERIODIC_FAST : LACP_PERIODIC_SLOW;
	}
	return LACP_STAY;
}

/* An expired partner did not hear our last PDU. It gets the next one as soon as 6.4.16 allows. */
static uint64_t periodic_period(const struct lacp_port_state *port, uint64_t period_ns)
{
	return port->partner.state & LACP_EXPIRED ? LACP_RETRY_TIME : period_ns;
}

static uint64_t periodic_last_sent_ns(const struct lacp_port_state *port)
{
	return port->sent_ns[LACP_TX_LIMIT - 1];
}

static void periodic_answer(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t answer_ns = periodic_last_sent_ns(port) + LACP_CROSSING_TIME;

	if (answer_ns < now_ns)
		answer_ns = now_ns;
	if (port->periodic_ns > answer_ns)
		port->periodic_ns = answer_ns;
}

/*
 * It has heard us, so the usual interval holds again. Leaving out needless PDUs makes room for
 * others (6.4.16).
 */
static void periodic_resume(struct lacp_port_state *port)
{
	uint64_t usual_ns = port->periodic == LACP_PERIODIC_SLOW ? LACP_SLOW_PERIODIC_TIME
								 : LACP_FAST_PERIODIC_TIME;

	if (port->periodic_ns && periodic_last_sent_ns(port))
		port->periodic_ns = periodic_last_sent_ns(port) + usual_ns;
}

void lacp_periodic_hear(struct lacp_port_state *port, bool was_expired, bool stale, uint64_t now_ns)
{
	bool is_expired = port->partner.state & LACP_EXPIRED;

	if (is_expired ? !was_expired : stale)
		periodic_answer(port, now_ns);
	else if (was_expired && !is_expired)
		periodic_resume(port);
}

/* In NONE the machine does not need its timer. */
static void periodic_repeat_goodbye(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t next_ns = periodic_last_sent_ns(port) + LACP_FAST_PERIODIC_TIME;

	port->ntt |= now_ns >= next_ns;
	port->periodic_ns = port->ntt ? now_ns + LACP_FAST_PERIODIC_TIME : next_ns;
}

void lacp_periodic_hasten(struct lacp_port_state *port, uint64_t now_ns)
{
	uint64_t next_ns =
		(port->ntt ? now_ns : periodic_last_sent_ns(port)) + LACP_FAST_PERIODIC_TIME;
	bool waits = port->unsettled_ns && now_ns < port->unsettled_ns + LACP_UNSETTLED_TIME;

	if (periodic_says_goodbye(port))
		periodic_repeat_goodbye(port, now_ns);
	else if (port->periodic == LACP_PERIODIC_SLOW && (waits || port->repeats > 1) &&
		 port->periodic_ns > next_ns)
		port->periodic_ns = next_ns;
}

/* The first PDU goes out at once (the standard waits one Fast_Periodic_Time). */
static void periodic_start(struct lacp_port_state *port, enum lacp_periodic_state from,
			   uint64_t deadline_ns)
{
	if (from == LACP_PERIODIC_NONE)
		port->ntt = 1;
	if (!(port->partner.state & LACP_EXPIRED) || !port->periodic_ns ||
	    deadline_ns < port->periodic_ns)
		port->periodic_ns = deadline_ns; /* otherwise an answer is due earlier */
}

void lacp_periodic_enter(struct lacp_port_state *port, enum lacp_periodic_state state,
			 uint64_t now_ns)
{
	enum lacp_periodic_state from = port->periodic;

	port->periodic = (uint8_t)state;
	switch (state) {
	case LACP_PERIODIC_NONE: port->periodic_ns = 0; break;
	case LACP_PERIODIC_FAST:
		periodic_start(port, from, now_ns + periodic_period(port, LACP_FAST_PERIODIC_TIME));
		break;
	case LACP_PERIODIC_SLOW:
		periodic_start(port, from, now_ns + periodic_period(port, LACP_SLOW_PERIODIC_TIME));
		break;
	case LACP_PERIODIC_TX:
		port->periodic_ns = 0;
		port->ntt = 1;
		break;
	}
}

/*
 * Transmit machine (6.4.16): sends an LACPDU when one is needed (ntt), at most three in any
 * Fast_Periodic_Time. Called by system.c when all other machines are at rest.
 */

uint64_t lacp_transmit_allowed_ns(const struct lacp_port_state *port)
{
	return port->sent_ns[0] ? port->sent_ns[0] + LACP_FAST_PERIODIC_TIME : 0;
}

enum lacp_transmit lacp_transmit_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (!port->ntt)
		return LACP_TRANSMIT_NOTHING;
	if (port->periodic == LACP_PERIODIC_NONE && !periodic_says_goodbye(port))
		return LACP_TRANSMIT_CLEAR;
	return now_ns >= lacp_transmit_allowed_ns(port) ? LACP_TRANSMIT_SEND : LACP_TRANSMIT_LATER;
}

static void transmit_remember(struct lacp_port_state *port, uint64_t now_ns)
{
	for (unsigned int i = 0; i + 1 < LACP_TX_LIMIT; i++)
		port->sent_ns[i] = port->sent_ns[i + 1];
	port->sent_ns[LACP_TX_LIMIT - 1] = now_ns;
}

static void transmit_send(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	uint8_t frame[LACP_PDU_SIZE];

	lacp_pdu_encode(frame, port->config.mac, &port->actor, &port->partner);
	transmit_remember(port, now_ns);
	port->counters.lacpdu_tx++;
	if (port->repeats > 1)
		port->repeats--;
	port->ntt = 0;
	if (port->farewell)
		port->farewell--;
	sys->outputs->transmit(sys->context, slot, frame, sizeof(frame));
}

void lacp_transmit_enter(struct lacp_system *sys, unsigned int slot, enum lacp_transmit action,
			 uint64_t now_ns)
{
	switch (action) {
	case LACP_TRANSMIT_SEND: transmit_send(sys, slot, now_ns); break;
	case LACP_TRANSMIT_CLEAR: sys->port[slot].ntt = 0; break;
	case LACP_TRANSMIT_NOTHING:
	case LACP_TRANSMIT_LATER: break;
	}
}

/*
 * Marker protocol (6.5). The responder answers every marker, within the limit for slow protocols.
 * The generator asks whether everything that was sent on a port has arrived, so that flows can move
 * away from it in order. Called by system.c.
 */

static void marker_send(struct lacp_system *sys, unsigned int slot,
			const struct lacp_marker *marker, enum lacp_pdu_kind kind)
{
	uint8_t frame[LACP_PDU_SIZE];

	lacp_marker_encode(frame, sys->port[slot].config.mac, marker, kind);
	sys->outputs->transmit(sys->context, slot, frame, sizeof(frame));
}

/* 6.5.4.2: the same information, as a response. */
void lacp_marker_respond(struct lacp_system *sys, unsigned int slot,
			 const struct lacp_marker *marker, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->counters.marker_rx++;
	if (now_ns - port->response_window_ns >= LACP_SECOND) {
		port->response_window_ns = now_ns;
		port->responses = 0;
	}
	if (port->responses >= LACP_MARKER_RESPONSES)
		return;
	port->responses++;
	port->counters.marker_response_tx++;
	marker_send(sys, slot, marker, LACP_PDU_MARKER_RESPONSE);
}

int lacp_marker_next(const struct lacp_port_state *port, uint64_t now_ns)
{
	bool distributes = port->actor.state & LACP_DISTRIBUTING;

	if (port->marker == LACP_MARKER_WAITING &&
	    (!distributes || lacp_due(port->marker_ns, now_ns)))
		return LACP_MARKER_IDLE;
	return LACP_STAY;
}

static void marker_ask(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	struct lacp_marker marker = { .port = port->actor.port,
				      .transaction = ++sys->state.transaction };

	memcpy(marker.system, port->actor.system, LACP_MAC_SIZE);
	port->transaction = marker.transaction;
	port->marker_ns = now_ns + LACP_DRAIN_TIME;
	port->counters.marker_tx++;
	marker_send(sys, slot, &marker, LACP_PDU_MARKER);
}

void lacp_marker_enter(struct lacp_system *sys, unsigned int slot, enum lacp_marker_state state,
		       bool answered, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->marker = (uint8_t)state;
	switch (state) {
	case LACP_MARKER_WAITING: marker_ask(sys, slot, now_ns); break;
	case LACP_MARKER_IDLE:
		port->marker_ns = 0;
		sys->outputs->drained(sys->context, slot, answered);
		break;
	}
}

void lacp_marker_response(struct lacp_system *sys, unsigned int slot,
			  const struct lacp_marker *marker, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	port->counters.marker_response_rx++;
	if (port->marker == LACP_MARKER_WAITING && marker->transaction == port->transaction &&
	    marker->port == port->actor.port &&
	    !memcmp(marker->system, port->actor.system, LACP_MAC_SIZE))
		lacp_marker_enter(sys, slot, LACP_MARKER_IDLE, true, now_ns);
}

/* LACPDUs (6.4.2.3) and marker PDUs (6.5.3.3) as octets. Nothing of a frame is trusted. */

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
