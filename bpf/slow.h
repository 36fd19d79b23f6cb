/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slow protocols on a slave (IEEE 802.3 annex 57A): hands PDUs to bondd, at a bounded rate.
 * While bondd is away, takes a slave out of the masks whose partner falls silent or changes
 * its mind, and, with lacp_hold, answers the partner's LACPDUs with the port's last one, and
 * its markers. Called by xbond_rx only.
 */
#ifndef XBOND_BPF_SLOW_H
#define XBOND_BPF_SLOW_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/maps.h"

#define SLOW_SUBTYPE_LACP 1
#define SLOW_SUBTYPE_MARKER 2
#define MARKER_INFORMATION 1
#define MARKER_RESPONSE 2
#define SLOW_SECOND_NS 1000000000ULL

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

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} pdus SEC(".maps");

/* Offsets in a frame: IEEE 802.1AX-2020 6.4.2.4, after the Ethernet header. */
#define LACP_ACTOR 18 /* the 15 bytes of an information TLV: priority, system, key, ... */
#define LACP_PARTNER 38
#define LACP_COLLECTOR 58
#define LACP_INFO_SIZE 15
#define LACP_SYSTEM 2 /* in the 15 bytes */
#define LACP_PORT 12
#define LACP_STATE 14
#define LACP_ACTOR_SYSTEM (LACP_ACTOR + LACP_SYSTEM)
#define LACP_ACTOR_STATE (LACP_ACTOR + LACP_STATE)
#define LACP_INFO_LENGTH 20 /* of the whole TLV; it is in the byte before the 15 */
#define LACP_COLLECTOR_LENGTH 16
#define MARKER_LENGTH 16

static __always_inline int slow_bondd_is_away(__u64 now_ns)
{
	return (__s64)(now_ns - READ_ONCE(table.lacp_heartbeat_ns)) > XBOND_LACP_AWAY_NS;
}

/* Out of both directions: other programs may do the same for other slots. */
static __always_inline void slow_take_out(__u32 slot)
{
	__u64 others = ~(1ULL << slot);

	__sync_fetch_and_and(&table.tx_mask, others);
	__sync_fetch_and_and(&table.rx_mask, others);
}

/* No LACPDU for the time in force. With bondd there, this is bondd's to find, unless it goes now. */
static int slow_silence(void *map, __u32 *key, struct hold_timer *timer)
{
	__u32 slot = *key;

	(void)map;
	if (slot >= XBOND_MAX_SLAVES || !READ_ONCE(hold[slot].current) ||
	    hold[slot].ended == XBOND_HOLD_PARTNER_CHANGED)
		return 0;
	if (!slow_bondd_is_away(bpf_ktime_get_ns())) {
		bpf_timer_start(&timer->timer, XBOND_LACP_AWAY_NS, 0);
		return 0;
	}
	hold[slot].ended = XBOND_HOLD_SILENT;
	slow_take_out(slot);
	return 0;
}

/* By the port's pointer: Linux 6.12 forgets the bound of a slot that has been a key on the stack. */
static __always_inline void slow_restart_silence(__u32 slot, const struct xbond_hold *port)
{
	struct hold_timer *timer = bpf_map_lookup_elem(&hold_timers, &slot);

	if (!timer)
		return;
	bpf_timer_init(&timer->timer, &hold_timers, CLOCK_MONOTONIC); /* refused when it is one already */
	bpf_timer_set_callback(&timer->timer, slow_silence);
	bpf_timer_start(&timer->timer, READ_ONCE(port->silence_ns), 0);
}

static __always_inline int slow_too_many(struct xbond_hold *port, __u64 now_ns)
{
	if (now_ns - port->window_ns >= SLOW_SECOND_NS) {
		port->window_ns = now_ns;
		port->window_count = 0;
	}
	if (port->window_count < XBOND_PDUS_PER_SECOND) {
		port->window_count++;
		return 0;
	}
	port->flooded++;
	return 1;
}

static __always_inline void slow_to_bondd(struct __sk_buff *skb, __u32 slot, __u64 now_ns)
{
	__u32 length = skb->len < XBOND_PDU_SIZE ? skb->len : XBOND_PDU_SIZE;
	struct xbond_pdu *pdu;

	if (length < ETH_HLEN + 1)
		return;
	pdu = bpf_ringbuf_reserve(&pdus, sizeof(*pdu), 0);
	if (!pdu)
		return;
	pdu->received_ns = now_ns;
	pdu->slot = slot;
	pdu->length = length;
	pdu->ifindex = skb->ifindex;
	pdu->pad0 = 0;
	if (bpf_skb_load_bytes(skb, 0, pdu->frame, length))
		bpf_ringbuf_discard(pdu, 0);
	else
		bpf_ringbuf_submit(pdu, 0);
}

static __always_inline int slow_same(const __u8 *a, const __u8 *b, __u32 size)
{
	for (__u32 i = 0; i < size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

/*
 * The port's last LACPDU with what the partner has just said of itself; out where it came
 * in. While the port carries nothing it does not say that it does.
 */
static __always_inline int slow_answer(struct __sk_buff *skb, struct xbond_hold *port, __u8 *frame)
{
	__u8 partner[LACP_INFO_SIZE];

	__builtin_memcpy(partner, frame + LACP_ACTOR, LACP_INFO_SIZE);
	__builtin_memcpy(frame + ETH_ALEN, port->pdu + ETH_ALEN, ETH_ALEN);
	__builtin_memcpy(frame + LACP_ACTOR, port->pdu + LACP_ACTOR, LACP_INFO_SIZE);
	__builtin_memcpy(frame + LACP_PARTNER, partner, LACP_INFO_SIZE);
	if (port->ended)
		frame[LACP_ACTOR_STATE] &= ~(LACP_COLLECTING | LACP_DISTRIBUTING);
	return bpf_redirect(skb->ifindex, 0);
}

/* Back into the masks as the port's last LACPDU had it. */
static __always_inline void slow_put_back(__u32 slot, struct xbond_hold *port)
{
	if (port->pdu[LACP_ACTOR_STATE] & LACP_COLLECTING)
		__sync_fetch_and_or(&table.rx_mask, 1ULL << slot);
	if (port->pdu[LACP_ACTOR_STATE] & LACP_DISTRIBUTING)
		__sync_fetch_and_or(&table.tx_mask, 1ULL << slot);
	port->ended = XBOND_HOLD_GOES_ON;
}

/* It collects and distributes at least as before, and nothing else is new. */
static __always_inline int slow_is_in_step(__u8 before, __u8 state)
{
	return !((before ^ state) & ~(LACP_COLLECTING | LACP_DISTRIBUTING)) && !(before & ~state);
}

/*
 * What the partner says of itself decides: as before, the port carries; otherwise not, until
 * it is as before. Another partner ends the hold for good: that is bondd's to judge.
 */
static __always_inline void slow_judge(__u32 slot, struct xbond_hold *port, const __u8 *frame, __u64 now_ns)
{
	if (!slow_same(frame + LACP_ACTOR, port->partner, LACP_INFO_SIZE - 1)) {
		port->ended = XBOND_HOLD_PARTNER_CHANGED;
		slow_take_out(slot);
	} else if (!slow_is_in_step(port->partner[LACP_STATE], frame[LACP_ACTOR_STATE])) {
		port->ended = XBOND_HOLD_OUT_OF_STEP;
		slow_take_out(slot);
	} else {
		port->heard_ns = now_ns;
		if (port->ended)
			slow_put_back(slot, port);
	}
}

/* What the core takes for an LACPDU: the lengths of the three TLVs, and no port 0. */
static __always_inline int slow_is_legal(const __u8 *frame)
{
	return frame[LACP_ACTOR - 1] == LACP_INFO_LENGTH && frame[LACP_PARTNER - 1] == LACP_INFO_LENGTH &&
	       frame[LACP_COLLECTOR - 1] == LACP_COLLECTOR_LENGTH &&
	       (frame[LACP_ACTOR + LACP_PORT] | frame[LACP_ACTOR + LACP_PORT + 1]);
}

/* As the core has it: somebody else than our partner, who talks to somebody else. */
static __always_inline int slow_is_foreign(const struct xbond_hold *port, const __u8 *frame)
{
	const __u8 nobody[ETH_ALEN] = {}, *sender = frame + LACP_ACTOR,
		   *to = frame + LACP_PARTNER + LACP_SYSTEM;

	if (slow_same(to, nobody, ETH_ALEN) || slow_same(to, port->pdu + LACP_ACTOR_SYSTEM, ETH_ALEN))
		return 0;
	return !slow_same(sender + LACP_SYSTEM, port->partner + LACP_SYSTEM, ETH_ALEN) ||
	       !slow_same(sender + LACP_PORT, port->partner + LACP_PORT, 2);
}

static __always_inline int slow_hold_lacp(struct __sk_buff *skb, __u32 slot, struct xbond_hold *port,
					  __u8 *frame, __u64 now_ns)
{
	/* A looped PDU or another holding end that answers us with our own: never to our own system. */
	if (slow_same(frame + LACP_ACTOR_SYSTEM, port->pdu + LACP_ACTOR_SYSTEM, ETH_ALEN) ||
	    !slow_is_legal(frame) || slow_is_foreign(port, frame))
		return TC_ACT_SHOT;
	slow_restart_silence(slot, port);
	if (port->ended != XBOND_HOLD_PARTNER_CHANGED)
		slow_judge(slot, port, frame, now_ns);
	if (port->ended == XBOND_HOLD_PARTNER_CHANGED || !READ_ONCE(port->holding) ||
	    now_ns - port->answered_ns < XBOND_HOLD_GAP_NS || now_ns - port->sent_ns < XBOND_HOLD_AFTER_NS)
		return TC_ACT_SHOT;
	port->answered_ns = now_ns;
	port->answers++;
	return slow_answer(skb, port, frame);
}

static __always_inline int slow_hold_marker(struct __sk_buff *skb, struct xbond_hold *port, __u8 *frame)
{
	if (!READ_ONCE(port->holding) || frame[ETH_HLEN + 2] != MARKER_INFORMATION ||
	    frame[ETH_HLEN + 3] != MARKER_LENGTH)
		return TC_ACT_SHOT;
	frame[ETH_HLEN + 2] = MARKER_RESPONSE;
	__builtin_memcpy(frame + ETH_ALEN, port->pdu + ETH_ALEN, ETH_ALEN);
	return bpf_redirect(skb->ifindex, 0);
}

/* Verdict for a slow protocols frame on a slave of an 802.3ad bond. */
static __noinline int slow_receive(struct __sk_buff *skb, __u32 slot)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct xbond_hold *port;
	__u8 *frame;

	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_UNSPEC;
	port = &hold[slot];
	if (!READ_ONCE(port->enabled))
		return TC_ACT_UNSPEC;
	if (slow_too_many(port, now_ns))
		return TC_ACT_SHOT;
	if (!slow_bondd_is_away(now_ns)) {
		slow_restart_silence(slot, port);
		slow_to_bondd(skb, slot, now_ns);
		return TC_ACT_UNSPEC;
	}
	if (skb->vlan_present) /* a priority tag, which an answer does not have */
		bpf_skb_vlan_pop(skb);
	if (!READ_ONCE(port->current) || bpf_skb_pull_data(skb, XBOND_PDU_SIZE))
		return TC_ACT_UNSPEC;
	frame = (void *)(long)skb->data;
	if ((void *)frame + XBOND_PDU_SIZE > (void *)(long)skb->data_end)
		return TC_ACT_UNSPEC;
	if (frame[ETH_HLEN] == SLOW_SUBTYPE_LACP)
		return slow_hold_lacp(skb, slot, port, frame, now_ns);
	if (frame[ETH_HLEN] == SLOW_SUBTYPE_MARKER)
		return slow_hold_marker(skb, port, frame);
	return TC_ACT_UNSPEC;
}

#endif
