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

#include "bpf/drops_count.h"
#include "bpf/maps.h"
#include "bpf/micro_bfd_away.h"
#include "bpf/slots.h"
#include "lacp/frame.h"

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

/* Offsets in a frame. The information TLVs without their headers. */
#define SLOW_ACTOR (ETH_HLEN + LACP_AT_ACTOR + LACP_TLV_HEADER)
#define SLOW_PARTNER (ETH_HLEN + LACP_AT_PARTNER + LACP_TLV_HEADER)
#define SLOW_ACTOR_SYSTEM (SLOW_ACTOR + LACP_INFO_SYSTEM)
#define SLOW_ACTOR_STATE (SLOW_ACTOR + LACP_INFO_STATE)
#define SLOW_PARTNER_STATE (SLOW_PARTNER + LACP_INFO_STATE)
#define SLOW_MARKER (ETH_HLEN + LACP_AT_MARKER)
/* Of a marker's port, system and transaction; what follows is zero. */
#define SLOW_MARKER_END (SLOW_MARKER + LACP_TLV_HEADER + 12)
/* What is read of a frame: up to the collector's length. */
#define SLOW_HEADERS (ETH_HLEN + LACP_AT_COLLECTOR + LACP_TLV_HEADER)

_Static_assert(XBOND_PDU_SIZE == LACP_PDU_SIZE, "the core and the maps mean the same PDU");

static __always_inline int slow_bondd_is_away(__u64 now_ns)
{
	return xbond_heartbeat_is_older(READ_ONCE(table.lacp_heartbeat_ns), now_ns,
					XBOND_LACP_AWAY_NS);
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

static __always_inline int slow_refuse(__u32 slot)
{
	drops_count(slot, XBOND_DROP_LACP_REFUSED);
	return TC_ACT_SHOT;
}

static __always_inline void slow_take_out(__u32 slot, __u32 directions)
{
	__u64 others = ~slots_bit(slot);

	if (directions & LACP_DISTRIBUTING)
		failed_take_out(slot);
	if (directions & LACP_COLLECTING) {
		__u64 before = __sync_fetch_and_and(&table.rx_mask, others);

		/*
		 * bondd must see what was noted before (slow_allow()). If nothing used the result,
		 * the instruction would be one that orders nothing on arm64.
		 */
		asm volatile("" : : "r"(before));
	}
}

static __always_inline void slow_put_back(__u32 slot, __u32 directions)
{
	if (directions & LACP_COLLECTING)
		__sync_fetch_and_or(&table.rx_mask, slots_bit(slot));
	if (directions & LACP_DISTRIBUTING)
		failed_put_back(slot, micro_bfd_has_failed(&bfd.link[slot]));
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
	return lacp_silence_ns(READ_ONCE(words->silence_ns), port->hurried & XBOND_HOLD_ASKS,
			       port->hurried & XBOND_HOLD_KNOWS);
}

static __always_inline __u32 slow_knows(const __u8 *frame)
{
	return frame[SLOW_PARTNER_STATE] & LACP_TIMEOUT ? XBOND_HOLD_KNOWS : 0;
}

static __always_inline void slow_note_answer(struct xbond_hold *port, const __u8 *frame,
					     __u64 now_ns)
{
	port->hurried =
		slow_knows(frame) | (frame[SLOW_ACTOR_STATE] & LACP_TIMEOUT ? XBOND_HOLD_ASKS : 0);
	port->answered_ns = now_ns;
	port->answers++;
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

static __always_inline int slow_is_legal(const __u8 *frame)
{
	return lacp_is_legal(frame + ETH_HLEN);
}

/* The end that an information TLV tells of. */
static __always_inline struct lacp_end slow_end_of(const __u8 *info)
{
	return (struct lacp_end){ info + LACP_INFO_SYSTEM, info + LACP_INFO_PORT };
}

/* The actor is the port of the partner's system that our port is connected to. */
static __always_inline int slow_is_partner(const struct xbond_hold_words *words, const __u8 *frame)
{
	return lacp_same_end(slow_end_of(frame + SLOW_ACTOR), slow_end_of(words->partner));
}

static __always_inline int slow_is_believed(const struct xbond_hold_words *words, const __u8 *frame)
{
	return lacp_is_believed(words->believed, frame + SLOW_ACTOR_SYSTEM);
}

static __always_inline int slow_is_foreign(const struct xbond_hold_words *words, const __u8 *frame)
{
	return lacp_is_foreign(frame + SLOW_PARTNER + LACP_INFO_SYSTEM,
			       words->pdu + SLOW_ACTOR_SYSTEM, slow_end_of(frame + SLOW_ACTOR),
			       slow_end_of(words->partner));
}

/*
 * Do two information TLVs tell of one port, and of one LAG ID, including AGG? The port priority
 * only orders ports.
 */
static __always_inline int slow_is_same_lag(const __u8 *a, const __u8 *b)
{
	return lacp_same(a, b, LACP_INFO_PORT_PRIORITY) &&
	       lacp_same_end(slow_end_of(a), slow_end_of(b)) &&
	       !((a[LACP_INFO_STATE] ^ b[LACP_INFO_STATE]) & LACP_AGGREGATION);
}

/*
 * The core's rule: the partner knows us, LACP is kept up, and the partner says that it is in sync.
 */
static __always_inline int slow_is_in_sync(const struct xbond_hold_words *words, const __u8 *frame)
{
	const __u8 *us = words->pdu + SLOW_ACTOR, *seen = frame + SLOW_PARTNER;
	__u8 state = frame[SLOW_ACTOR_STATE];
	int maintained = lacp_is_maintained(state, us[LACP_INFO_STATE], seen[LACP_INFO_STATE]);

	return (state & (LACP_SYNCHRONIZATION | LACP_EXPIRED)) == LACP_SYNCHRONIZATION &&
	       maintained && (slow_is_same_lag(seen, us) || !(state & LACP_AGGREGATION));
}

static __always_inline int slow_may_answer(const struct xbond_hold *port,
					   const struct xbond_hold_words *words, __u64 now_ns)
{
	return words->holding && now_ns - port->answered_ns >= XBOND_HOLD_GAP_NS &&
	       now_ns - words->sent_ns >= XBOND_HOLD_AFTER_NS;
}

/*
 * What hold has taken, it gives back when the partner collects. A partner does so when it knows
 * that we are in sync. One that says so although it does not know may tell nothing more; then it is
 * enough that our answer tells it.
 */
static __always_inline int slow_may_distribute(const struct xbond_hold *port,
					       const struct xbond_hold_words *words,
					       const __u8 *frame, __u64 now_ns)
{
	int collects = frame[SLOW_ACTOR_STATE] & LACP_COLLECTING;

	if (words->independent && !collects)
		return 0;
	return !(port->withheld & LACP_DISTRIBUTING) ||
	       frame[SLOW_PARTNER_STATE] & LACP_SYNCHRONIZATION ||
	       (collects && slow_may_answer(port, words, now_ns));
}

/*
 * The partner's own state decides. If it is out of sync, the port carries nothing until it is in
 * sync again. Another LAG ends the hold for good; bondd then judges it.
 */
static __always_inline void slow_judge(__u32 slot, struct xbond_hold *port,
				       const struct xbond_hold_words *words, const __u8 *frame,
				       __u64 now_ns)
{
	__u32 allowed = LACP_COLLECTING;

	if (!slow_is_same_lag(frame + SLOW_ACTOR, words->partner)) {
		slow_end(slot, port, words, XBOND_HOLD_PARTNER_CHANGED);
	} else if (!slow_is_in_sync(words, frame)) {
		slow_end(slot, port, words, XBOND_HOLD_OUT_OF_STEP);
	} else {
		if (slow_may_distribute(port, words, frame, now_ns))
			allowed = SLOW_CARRY;
		port->ended = XBOND_HOLD_GOES_ON;
		slow_allow(slot, port, words, allowed);
	}
}

/* What the port does now: what bondd allows, less what hold has taken, and in the masks. */
static __always_inline __u32 slow_carries(__u32 slot, const struct xbond_hold *port,
					  const struct xbond_hold_words *words)
{
	__u32 carries = words->told & ~port->withheld;

	if (!slots_have(READ_ONCE(table.rx_mask), slot))
		return 0;
	if (!slots_have(READ_ONCE(table.tx_mask), slot))
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
	__u32 state = words->pdu[SLOW_ACTOR_STATE];

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
	__u8 state = slow_actor_state(words, carries, frame[SLOW_ACTOR_STATE]);

	if (slow_replace(skb, words->pdu) ||
	    bpf_skb_store_bytes(skb, SLOW_ACTOR_STATE, &state, 1, 0) ||
	    bpf_skb_store_bytes(skb, SLOW_PARTNER, frame + SLOW_ACTOR, LACP_INFO_SIZE, 0))
		return TC_ACT_SHOT;
	return bpf_redirect(skb->ifindex, 0);
}

static __always_inline int slow_hold_lacp(struct __sk_buff *skb, __u32 slot,
					  struct xbond_hold *port,
					  const struct xbond_hold_words *words, const __u8 *frame,
					  __u64 now_ns)
{
	__u32 carries;
	int answers;

	/*
	 * Never answers our own system: the PDU is looped, or another end on hold answers us with
	 * our own PDU.
	 */
	if (lacp_same(frame + SLOW_ACTOR_SYSTEM, words->pdu + SLOW_ACTOR_SYSTEM, ETH_ALEN) ||
	    !slow_is_legal(frame) || slow_is_foreign(words, frame) ||
	    port->ended == XBOND_HOLD_PARTNER_CHANGED)
		return slow_refuse(slot);
	slow_judge(slot, port, words, frame, now_ns);
	if (port->ended == XBOND_HOLD_PARTNER_CHANGED)
		return slow_refuse(slot);
	carries = slow_carries(slot, port, words);
	port->heard_ns = now_ns;
	port->hurried = (port->hurried & XBOND_HOLD_ASKS) | slow_knows(frame);
	answers = slow_may_answer(port, words, now_ns);
	if (answers)
		slow_note_answer(port, frame, now_ns);
	slow_restart_silence(slot, slow_silence_ns(port, words));
	return answers ? slow_answer(skb, words, carries, frame) : TC_ACT_SHOT;
}

/* 6.5.4.2: the same information, as a response. */
static __always_inline int slow_hold_marker(struct __sk_buff *skb, __u32 slot,
					    const struct xbond_hold_words *words, const __u8 *frame)
{
	__u8 response[XBOND_PDU_SIZE] = {};

	if (!words->holding || frame[SLOW_MARKER] != LACP_TLV_MARKER ||
	    frame[SLOW_MARKER + 1] != LACP_MARKER_LENGTH)
		return slow_refuse(slot);
	__builtin_memcpy(response, words->pdu, ETH_HLEN);
	__builtin_memcpy(response + ETH_HLEN, frame + ETH_HLEN, SLOW_MARKER_END - ETH_HLEN);
	response[ETH_HLEN + 1] = words->pdu[ETH_HLEN + 1]; /* the version */
	response[SLOW_MARKER] = LACP_TLV_MARKER_RESPONSE;
	return slow_replace(skb, response) ? TC_ACT_SHOT : bpf_redirect(skb->ifindex, 0);
}

#endif
