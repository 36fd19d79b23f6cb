/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slow protocols on a slave (IEEE 802.3 annex 57A). PDUs go to bondd, with a limited rate for each
 * class, or, while bondd is away, to slow_hold.h. Frames that are neither LACP nor marker belong to
 * somebody else on the slave and always pass. Called by xbond_rx only.
 */
#ifndef XBOND_BPF_SLOW_H
#define XBOND_BPF_SLOW_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/drops_count.h"
#include "bpf/maps.h"
#include "bpf/slow_hold.h"

#define SLOW_SECOND_NS 1000000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} pdus SEC(".maps");

static __always_inline __u32 slow_class(const struct xbond_hold_words *words, const __u8 *frame)
{
	if (frame[ETH_HLEN] == LACP_SUBTYPE_MARKER)
		return XBOND_PDU_MARKER;
	if (frame[ETH_HLEN] != LACP_SUBTYPE_LACP)
		return XBOND_PDU_OTHER;
	return slow_is_partner(words, frame) && slow_is_believed(words, frame) ? XBOND_PDU_PARTNER
									       : XBOND_PDU_STRANGER;
}

static __always_inline __u32 slow_limit(__u32 class)
{
	if (class == XBOND_PDU_MARKER)
		return XBOND_MARKERS_PER_SECOND;
	return class == XBOND_PDU_OTHER ? XBOND_OTHERS_PER_SECOND : XBOND_PDUS_PER_SECOND;
}

static __always_inline int slow_too_many(struct xbond_hold *port, __u32 class, __u64 now_ns)
{
	struct xbond_pdu_budget *budget;

	asm volatile("" : "+r"(class)); /* keeps the bound visible to the verifier */
	budget = &port->budget[class & (XBOND_PDU_CLASSES - 1)];
	if (now_ns - budget->window_ns >= SLOW_SECOND_NS) {
		budget->window_ns = now_ns;
		budget->count = 0;
	}
	if (budget->count < slow_limit(class)) {
		budget->count++;
		return 0;
	}
	if (class != XBOND_PDU_OTHER)
		budget->flooded++;
	return 1;
}

static __always_inline void slow_to_bondd(struct __sk_buff *skb, __u32 slot, __u64 now_ns)
{
	__u32 length = skb->len < XBOND_PDU_SIZE ? skb->len : XBOND_PDU_SIZE;
	struct xbond_pdu *pdu;

	if (length < ETH_HLEN + 1)
		return;
	pdu = bpf_ringbuf_reserve(&pdus, sizeof(*pdu), 0);
	if (!pdu) {
		drops_count(slot, XBOND_DROP_LACP_QUEUE);
		return;
	}
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

/*
 * bondd gets the PDU. The timer starts at the partner's last PDU, in case bondd goes away now. A
 * port without a partner may just be getting one.
 */
static __always_inline int slow_present(struct __sk_buff *skb, __u32 slot, struct xbond_hold *port,
					const struct xbond_hold_words *words, __u32 class,
					const __u8 *frame, __u64 now_ns)
{
	if (class == XBOND_PDU_PARTNER || (class == XBOND_PDU_STRANGER && !words->current)) {
		port->hurried = slow_knows(frame);
		slow_restart_silence(slot, slow_silence_ns(port, words));
	}
	slow_to_bondd(skb, slot, now_ns);
	return TC_ACT_UNSPEC;
}

static __always_inline int slow_away(struct __sk_buff *skb, __u32 slot, struct xbond_hold *port,
				     const struct xbond_hold_words *words, __u32 class,
				     const __u8 *frame, __u64 now_ns)
{
	if (class == XBOND_PDU_STRANGER && !slow_is_believed(words, frame))
		return slow_refuse(slot);
	if (!words->current) {
		if (class != XBOND_PDU_MARKER && slow_is_legal(frame))
			port->missed_ns = now_ns;
		return TC_ACT_UNSPEC;
	}
	if (skb->len < XBOND_PDU_SIZE)
		return slow_refuse(slot);
	if (class == XBOND_PDU_MARKER)
		return slow_hold_marker(skb, slot, words, frame);
	return slow_hold_lacp(skb, slot, port, words, frame, now_ns);
}

/* If a frame is too short for LACP and marker, only its subtype is read; the rest is zero. */
static __always_inline int slow_read(struct __sk_buff *skb, __u8 *frame)
{
	if (skb->len >= XBOND_PDU_SIZE)
		return bpf_skb_load_bytes(skb, 0, frame, SLOW_HEADERS);
	return skb->len > ETH_HLEN ? bpf_skb_load_bytes(skb, 0, frame, ETH_HLEN + 1) : -1;
}

/* The verdict for a slow protocols frame on a slave of an 802.3ad bond. */
__noinline int slow_receive(struct __sk_buff *skb, __u32 slot)
{
	__u64 now_ns = bpf_ktime_get_ns();
	const struct xbond_hold_words *words;
	__u8 frame[SLOW_HEADERS] = {};
	struct xbond_hold *port;
	__u32 class;
	int away;

	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_UNSPEC;
	port = &hold[slot];
	if (!READ_ONCE(port->enabled) || slow_read(skb, frame))
		return TC_ACT_UNSPEC;
	words = slow_words(port);
	class = slow_class(words, frame);
	away = slow_bondd_is_away(now_ns);
	if ((away && class == XBOND_PDU_OTHER) || slow_too_many(port, class, now_ns))
		return class == XBOND_PDU_OTHER ? TC_ACT_UNSPEC : TC_ACT_SHOT;
	if (!away)
		return slow_present(skb, slot, port, words, class, frame, now_ns);
	return slow_away(skb, slot, port, words, class, frame, now_ns);
}

#endif
