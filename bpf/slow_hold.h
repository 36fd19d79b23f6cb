/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hold: how the programs keep a port of an 802.3ad bond while bondd is away. They judge the
 * partner's LACPDUs by the rules of the LACP core. If the partner is silent, out of sync or
 * replaced by another one, they take the port out of the masks. With lacp_hold they answer the
 * partner's LACPDUs and markers. Called by slow.h only, which tells whose a PDU is and which PDUs
 * are within the rate.
 */
#ifndef XBOND_BPF_SLOW_HOLD_H
#define XBOND_BPF_SLOW_HOLD_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "bpf/maps.h"

#define MARKER_INFORMATION 1
#define MARKER_RESPONSE 2
#define SLOW_SHORT_TIMEOUT_NS 3000000000ULL /* 6.4.4 */
#define SLOW_CARRY (LACP_COLLECTING | LACP_DISTRIBUTING)

struct hold_timer {
	struct bpf_timer timer;
};

struct xbond_hold hold[XBOND_MAX_SLAVES] SEC(".data.hold");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct hold_timer);
} hold_timers SEC(".maps");

/* Offsets in a frame: IEEE 802.1AX-2020 6.4.2.4, after the Ethernet header. */
#define LACP_ACTOR 18 /* 15 bytes of an information TLV: priority, system, key, ... */
#define LACP_PARTNER 38
#define LACP_COLLECTOR 58
#define LACP_INFO_SIZE 15
#define LACP_SYSTEM 2 /* in the 15 bytes */
#define LACP_PORT_PRIORITY 10
#define LACP_PORT 12
#define LACP_STATE 14
#define LACP_ACTOR_SYSTEM (LACP_ACTOR + LACP_SYSTEM)
#define LACP_ACTOR_STATE (LACP_ACTOR + LACP_STATE)
#define LACP_PARTNER_STATE (LACP_PARTNER + LACP_STATE)
#define LACP_INFO_LENGTH 20 /* of the whole TLV; it is in the byte before the 15 */
#define LACP_COLLECTOR_LENGTH 16
#define MARKER_TYPE 16
#define MARKER_LENGTH 16
#define MARKER_END 30	/* end of port, system and transaction; the rest is zero */
#define SLOW_HEADERS 58 /* bytes of a frame that are read */

static __always_inline int slow_bondd_is_away(__u64 now_ns)
{
	return (__s64)(now_ns - READ_ONCE(table.lacp_heartbeat_ns)) > XBOND_LACP_AWAY_NS;
}

static __always_inline int slow_same(const __u8 *a, const __u8 *b, __u32 size)
{
	for (__u32 i = 0; i < size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

/*
 * Called once per frame, because bondd may put the other copy in force meanwhile. The verifier
 * needs the explicit bound.
 */
static __always_inline const struct xbond_hold_words *slow_words(const struct xbond_hold *port)
{
	__u32 copy = READ_ONCE(port->in_force);

	asm volatile("" : "+r"(copy));
	return &port->words[copy & 1];
}

static __always_inline void slow_take_out(__u32 slot, __u32 directions)
{
	__u64 others = ~(1ULL << slot);

	if (directions & LACP_DISTRIBUTING)
		__sync_fetch_and_and(&table.tx_mask, others);
	if (directions & LACP_COLLECTING)
		__sync_fetch_and_and(&table.rx_mask, others);
}

static __always_inline void slow_put_back(__u32 slot, __u32 directions)
{
	if (directions & LACP_COLLECTING)
		__sync_fetch_and_or(&table.rx_mask, 1ULL << slot);
	if (directions & LACP_DISTRIBUTING)
		__sync_fetch_and_or(&table.tx_mask, 1ULL << slot);
}

/*
 * Takes from the masks what the port may not do. It is noted before, because bondd may publish at
 * this moment. Gives back what hold had taken and bondd allows.
 */
static __always_inline void slow_allow(__u32 slot, struct xbond_hold *port,
				       const struct xbond_hold_words *words, __u32 allowed)
{
	__u32 back = port->withheld & allowed & words->told;

	WRITE_ONCE(port->withheld, SLOW_CARRY & ~allowed);
	slow_take_out(slot, SLOW_CARRY & ~allowed);
	slow_put_back(slot, back);
}

static __always_inline void slow_end(__u32 slot, struct xbond_hold *port,
				     const struct xbond_hold_words *words, __u32 why)
{
	port->ended = why;
	slow_allow(slot, port, words, 0);
}

static __always_inline __u64 slow_silence_ns(const struct xbond_hold *port,
					     const struct xbond_hold_words *words)
{
	__u64 silence_ns = READ_ONCE(words->silence_ns);

	return port->hurried && silence_ns > SLOW_SHORT_TIMEOUT_NS ? SLOW_SHORT_TIMEOUT_NS
								   : silence_ns;
}

static __always_inline __u64 slow_heard_ns(const struct xbond_hold *port,
					   const struct xbond_hold_words *words)
{
	return port->heard_ns > words->heard_ns ? port->heard_ns : words->heard_ns;
}

/*
 * No LACPDU arrived in the time in force. If bondd is there, it finds that itself, unless it goes
 * away now. A timer that was started before the partner's last PDU is prolonged.
 */
static int slow_silence(void *map, __u32 *key, struct hold_timer *timer)
{
	__u64 now_ns = bpf_ktime_get_ns(), end_ns;
	const struct xbond_hold_words *words;
	struct xbond_hold *port;
	__u32 slot = *key;

	(void)map;
	if (slot >= XBOND_MAX_SLAVES)
		return 0;
	port = &hold[slot];
	words = slow_words(port);
	if (!words->current || port->ended == XBOND_HOLD_PARTNER_CHANGED)
		return 0;
	end_ns = slow_heard_ns(port, words) + slow_silence_ns(port, words);
	if (!slow_bondd_is_away(now_ns))
		bpf_timer_start(&timer->timer, XBOND_LACP_AWAY_NS, 0);
	else if ((__s64)(end_ns - now_ns) > 0)
		bpf_timer_start(&timer->timer, end_ns - now_ns, 0);
	else
		slow_end(slot, port, words, XBOND_HOLD_SILENT);
	return 0;
}

/*
 * Takes a time and not the slot's port: Linux 6.12 forgets the bound of a slot that has been a key
 * on the stack.
 */
static __always_inline void slow_restart_silence(__u32 slot, __u64 silence_ns)
{
	struct hold_timer *timer = bpf_map_lookup_elem(&hold_timers, &slot);

	if (!timer)
		return;
	/* Refused if it is a timer already. */
	bpf_timer_init(&timer->timer, &hold_timers, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&timer->timer, slow_silence);
	bpf_timer_start(&timer->timer, silence_ns, 0);
}

/* What the core accepts as an LACPDU: the three TLVs have their lengths, and no port is 0. */
static __always_inline int slow_is_legal(const __u8 *frame)
{
	return frame[LACP_ACTOR - 1] == LACP_INFO_LENGTH &&
	       frame[LACP_PARTNER - 1] == LACP_INFO_LENGTH &&
	       frame[LACP_COLLECTOR - 1] == LACP_COLLECTOR_LENGTH &&
	       (frame[LACP_ACTOR + LACP_PORT] | frame[LACP_ACTOR + LACP_PORT + 1]);
}

/* The actor is the port of the partner's system that our port is connected to. */
static __always_inline int slow_is_partner(const struct xbond_hold_words *words, const __u8 *frame)
{
	const __u8 *sender = frame + LACP_ACTOR;

	return slow_same(sender + LACP_SYSTEM, words->partner + LACP_SYSTEM, ETH_ALEN) &&
	       slow_same(sender + LACP_PORT, words->partner + LACP_PORT, 2);
}

/* lacp_partner */
static __always_inline int slow_is_believed(const struct xbond_hold_words *words, const __u8 *frame)
{
	const __u8 any[ETH_ALEN] = {};

	return slow_same(words->believed, any, ETH_ALEN) ||
	       slow_same(words->believed, frame + LACP_ACTOR_SYSTEM, ETH_ALEN);
}

/* The core's rule: the PDU is from somebody other than our partner, and for somebody else. */
static __always_inline int slow_is_foreign(const struct xbond_hold_words *words, const __u8 *frame)
{
	const __u8 nobody[ETH_ALEN] = {}, *to = frame + LACP_PARTNER + LACP_SYSTEM;

	return !slow_same(to, nobody, ETH_ALEN) &&
	       !slow_same(to, words->pdu + LACP_ACTOR_SYSTEM, ETH_ALEN) &&
	       !slow_is_partner(words, frame);
}

/* Compares the whole LAG ID, including AGG. The port priority is not part of it. */
static __always_inline int slow_is_same_lag(const struct xbond_hold_words *words, const __u8 *frame)
{
	return slow_same(frame + LACP_ACTOR, words->partner, LACP_PORT_PRIORITY) &&
	       slow_is_partner(words, frame) &&
	       !((frame[LACP_ACTOR_STATE] ^ words->partner[LACP_STATE]) & LACP_AGGREGATION);
}

/*
 * The core's rule: the partner knows us, LACP is kept up, and the partner says that it is in sync.
 */
static __always_inline int slow_is_in_sync(const struct xbond_hold_words *words, const __u8 *frame)
{
	const __u8 *us = words->pdu + LACP_ACTOR, *seen = frame + LACP_PARTNER;
	__u8 state = frame[LACP_ACTOR_STATE];
	int known = slow_same(seen, us, LACP_STATE) &&
		    !((seen[LACP_STATE] ^ us[LACP_STATE]) & LACP_AGGREGATION);
	int maintained = (state | (us[LACP_STATE] & seen[LACP_STATE])) & LACP_ACTIVITY;

	return (state & (LACP_SYNCHRONIZATION | LACP_EXPIRED)) == LACP_SYNCHRONIZATION &&
	       maintained && (known || !(state & LACP_AGGREGATION));
}

/*
 * The partner's own state decides. If it is out of sync, the port carries nothing until it is in
 * sync again. Another LAG ends the hold for good; bondd then judges it.
 */
static __always_inline void slow_judge(__u32 slot, struct xbond_hold *port,
				       const struct xbond_hold_words *words, const __u8 *frame)
{
	__u32 allowed = SLOW_CARRY;

	if (!slow_is_same_lag(words, frame)) {
		slow_end(slot, port, words, XBOND_HOLD_PARTNER_CHANGED);
	} else if (!slow_is_in_sync(words, frame)) {
		slow_end(slot, port, words, XBOND_HOLD_OUT_OF_STEP);
	} else {
		if (words->independent && !(frame[LACP_ACTOR_STATE] & LACP_COLLECTING))
			allowed = LACP_COLLECTING;
		port->ended = XBOND_HOLD_GOES_ON;
		slow_allow(slot, port, words, allowed);
	}
}

/* What the port does now: what bondd allows, less what hold has taken, and in the masks. */
static __always_inline __u32 slow_carries(__u32 slot, const struct xbond_hold *port,
					  const struct xbond_hold_words *words)
{
	__u32 carries = words->told & ~port->withheld;

	if (!(READ_ONCE(table.rx_mask) >> slot & 1))
		return 0;
	if (!(READ_ONCE(table.tx_mask) >> slot & 1))
		carries &= ~LACP_DISTRIBUTING;
	return carries & LACP_COLLECTING ? carries : 0;
}

/*
 * A port that does not collect says that it is not in sync, so that the partner does not send. Our
 * port is current, even if its last PDU was sent before. The short timeout keeps the partner
 * talking, because hold can only answer.
 */
static __always_inline __u8 slow_actor_state(const struct xbond_hold_words *words, __u32 carries,
					     __u8 partner_state)
{
	__u32 state = words->pdu[LACP_ACTOR_STATE];

	state &= ~(LACP_SYNCHRONIZATION | SLOW_CARRY | LACP_DEFAULTED | LACP_EXPIRED);
	if (carries)
		state |= LACP_SYNCHRONIZATION | carries;
	return (__u8)(state | (partner_state & LACP_TIMEOUT));
}

/* Turns the frame into one of ours, without a tag and with exactly XBOND_PDU_SIZE bytes. */
static __always_inline int slow_replace(struct __sk_buff *skb, const __u8 *frame)
{
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	return bpf_skb_change_tail(skb, XBOND_PDU_SIZE, 0) ||
	       bpf_skb_store_bytes(skb, 0, frame, XBOND_PDU_SIZE, 0);
}

/*
 * Answers with the port's last LACPDU, the present state, and what the partner has just said of
 * itself. It leaves by the slave on which the PDU arrived.
 */
static __always_inline int slow_answer(struct __sk_buff *skb, const struct xbond_hold_words *words,
				       __u32 carries, const __u8 *frame)
{
	__u8 state = slow_actor_state(words, carries, frame[LACP_ACTOR_STATE]);

	if (slow_replace(skb, words->pdu) ||
	    bpf_skb_store_bytes(skb, LACP_ACTOR_STATE, &state, 1, 0) ||
	    bpf_skb_store_bytes(skb, LACP_PARTNER, frame + LACP_ACTOR, LACP_INFO_SIZE, 0))
		return TC_ACT_SHOT;
	return bpf_redirect(skb->ifindex, 0);
}

static __always_inline int slow_hold_lacp(struct __sk_buff *skb, __u32 slot,
					  struct xbond_hold *port,
					  const struct xbond_hold_words *words, const __u8 *frame,
					  __u64 now_ns)
{
	__u8 both = frame[LACP_ACTOR_STATE] & frame[LACP_PARTNER_STATE];
	__u32 carries;

	/*
	 * Never answers our own system: the PDU is looped, or another end on hold answers us with
	 * our own PDU.
	 */
	if (slow_same(frame + LACP_ACTOR_SYSTEM, words->pdu + LACP_ACTOR_SYSTEM, ETH_ALEN) ||
	    !slow_is_legal(frame) || slow_is_foreign(words, frame) ||
	    port->ended == XBOND_HOLD_PARTNER_CHANGED)
		return TC_ACT_SHOT;
	slow_judge(slot, port, words, frame);
	if (port->ended == XBOND_HOLD_PARTNER_CHANGED)
		return TC_ACT_SHOT;
	carries = slow_carries(slot, port, words);
	port->heard_ns = now_ns;
	/* The partner sends every second once it has heard that we ask for it. */
	port->hurried = words->holding && both & LACP_TIMEOUT;
	slow_restart_silence(slot, slow_silence_ns(port, words));
	if (!words->holding || now_ns - port->answered_ns < XBOND_HOLD_GAP_NS ||
	    now_ns - words->sent_ns < XBOND_HOLD_AFTER_NS)
		return TC_ACT_SHOT;
	port->answered_ns = now_ns;
	port->answers++;
	return slow_answer(skb, words, carries, frame);
}

/* 6.5.4.2: the same information, as a response. */
static __always_inline int slow_hold_marker(struct __sk_buff *skb,
					    const struct xbond_hold_words *words, const __u8 *frame)
{
	__u8 response[XBOND_PDU_SIZE] = {};

	if (!words->holding || frame[MARKER_TYPE] != MARKER_INFORMATION ||
	    frame[MARKER_TYPE + 1] != MARKER_LENGTH)
		return TC_ACT_SHOT;
	__builtin_memcpy(response, words->pdu, ETH_HLEN);
	__builtin_memcpy(response + ETH_HLEN, frame + ETH_HLEN, MARKER_END - ETH_HLEN);
	response[ETH_HLEN + 1] = words->pdu[ETH_HLEN + 1]; /* the version */
	response[MARKER_TYPE] = MARKER_RESPONSE;
	return slow_replace(skb, response) ? TC_ACT_SHOT : bpf_redirect(skb->ifindex, 0);
}

#endif
