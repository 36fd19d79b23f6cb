/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-BFD on a slave (RFC 7130): its packets go to bondd's BFD thread, with a limited rate, if
 * they come from the far end. While the thread is silent, the far end gets an answer for each of
 * its packets: our last one. So a session does not end because bondd does. Called by xbond_rx only.
 */
#ifndef XBOND_BPF_MICRO_BFD_H
#define XBOND_BPF_MICRO_BFD_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bfd/bfd_wire.h"
#include "bpf/collect.h"
#include "bpf/drops_count.h"
#include "bpf/maps.h"
#include "bpf/micro_bfd_away.h"

#define MICRO_BFD_NOT (-2) /* no verdict: the frame is somebody else's */
#define MICRO_BFD_SECOND_NS 1000000000ULL
#define MICRO_BFD_AT4 (BFD_ETHER_SIZE + BFD_IPV4_SIZE + BFD_UDP_SIZE)
#define MICRO_BFD_AT6 (BFD_ETHER_SIZE + BFD_IPV6_SIZE + BFD_UDP_SIZE)
#define MICRO_BFD_SIZE4 (MICRO_BFD_AT4 + BFD_PACKET_SIZE)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 * 1024);
} bfd_packets SEC(".maps");

/* A frame whose headers are not where they can be read at once may be one. */
static __always_inline int micro_bfd_may_be(struct __sk_buff *skb)
{
	const __u8 *frame = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (skb->protocol == bpf_htons(ETH_P_IP))
		return frame + MICRO_BFD_PORT4 + 2 > end ||
		       micro_bfd_is_port(frame, MICRO_BFD_PROTOCOL4, MICRO_BFD_PORT4);
	return skb->protocol == bpf_htons(ETH_P_IPV6) &&
	       (frame + MICRO_BFD_PORT6 + 2 > end ||
		micro_bfd_is_port(frame, MICRO_BFD_PROTOCOL6, MICRO_BFD_PORT6));
}

static __always_inline int micro_bfd_too_many(struct xbond_pdu_budget *budget, __u32 limit,
					      __u64 now_ns)
{
	if (now_ns - budget->window_ns >= MICRO_BFD_SECOND_NS) {
		budget->window_ns = now_ns;
		budget->count = 0;
	}
	if (budget->count < limit) {
		budget->count++;
		return 0;
	}
	budget->flooded++;
	return 1;
}

static __always_inline __u32 micro_bfd_number(const __u8 *at)
{
	return (__u32)at[0] << 24 | (__u32)at[1] << 16 | (__u32)at[2] << 8 | at[3];
}

static __always_inline void micro_bfd_to_bondd(struct __sk_buff *skb, __u32 slot,
					       const __u8 *packet, __u32 length, __u64 now_ns)
{
	struct xbond_bfd_packet *record = bpf_ringbuf_reserve(&bfd_packets, sizeof(*record), 0);

	if (!record) {
		drops_count(slot, XBOND_DROP_BFD_QUEUE);
		return;
	}
	record->received_ns = now_ns;
	record->slot = slot;
	record->ifindex = skb->ifindex;
	record->length = length;
	__builtin_memcpy(record->bytes, packet, BFD_PACKET_SIZE);
	record->pad0 = 0;
	bpf_ringbuf_submit(record, 0);
}

/*
 * Of the session that is in force, and without what must be refused. A far end that has not heard
 * us for its detection time knows our discriminator no longer.
 */
static __always_inline int micro_bfd_is_spoken(const struct xbond_bfd_words *words,
					       const __u8 *packet, __u32 length)
{
	__u32 yours = micro_bfd_number(packet + BFD_AT_YOUR_DISCR);

	return packet[BFD_AT_VERSION] >> 5 == BFD_VERSION && packet[BFD_AT_MULTIPLIER] &&
	       packet[BFD_AT_LENGTH] >= BFD_PACKET_SIZE && packet[BFD_AT_LENGTH] <= length &&
	       !(packet[BFD_AT_STATE] & (BFD_FLAG_AUTHENTICATED | BFD_FLAG_MULTIPOINT)) &&
	       micro_bfd_number(packet + BFD_AT_MY_DISCR) == words->session.remote_discr &&
	       (yours ? yours == words->session.local_discr : packet[BFD_AT_STATE] >> 6 < BFD_INIT);
}

/* Is bondd's next packet overdue, and the last answer not too near? Two ends must not talk on. */
static __always_inline int micro_bfd_is_silent(const struct xbond_bfd_link *link,
					       const struct xbond_bfd_words *words, __u64 now_ns)
{
	return words->holding &&
	       (__s64)(now_ns - READ_ONCE(link->sent_ns)) > (__s64)words->gap_ns &&
	       now_ns - link->answered_ns >= words->gap_ns / 4 * 3;
}

/* RFC 1624: another second byte in the packet's first word. `at` is where the packet begins. */
static __always_inline int micro_bfd_restate(struct __sk_buff *skb, const __u8 *frame, __u32 at,
					     __u8 state)
{
	__u32 sum = (__u16)~bfd_frame_word(frame + at - 2) + (0xffff - frame[at + BFD_AT_STATE]) +
		    state;
	__u8 checksum[2];

	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	if (!sum)
		sum = 0xffff;
	checksum[0] = (__u8)(sum >> 8);
	checksum[1] = (__u8)sum;
	return bpf_skb_store_bytes(skb, at + BFD_AT_STATE, &state, 1, 0) ||
	       bpf_skb_store_bytes(skb, at - 2, checksum, sizeof(checksum), 0);
}

/*
 * The frame becomes ours. It says that the session is up; to a far end that says Down, Init
 * (RFC 5880, 6.2).
 */
static __always_inline int micro_bfd_become(struct __sk_buff *skb, const __u8 *frame, __u32 length,
					    __u32 at, __u8 heard)
{
	__u8 state = frame[at + BFD_AT_STATE];

	if (heard >> 6 == BFD_DOWN)
		state = (state & 0x3f) | BFD_INIT << 6;
	if (heard & BFD_FLAG_POLL)
		state |= BFD_FLAG_FINAL;
	return bpf_skb_change_tail(skb, length, 0) ||
	       bpf_skb_store_bytes(skb, 0, frame, length, 0) ||
	       micro_bfd_restate(skb, frame, at, state);
}

/* To a packet with the state `heard`, by the slave on which it arrived. */
static __always_inline int micro_bfd_answer(struct __sk_buff *skb, struct xbond_bfd_link *link,
					    const struct xbond_bfd_words *words, __u8 heard,
					    __u64 now_ns)
{
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (bfd.ends.six
		    ? micro_bfd_become(skb, words->frame, BFD_FRAME_SIZE, MICRO_BFD_AT6, heard)
		    : micro_bfd_become(skb, words->frame, MICRO_BFD_SIZE4, MICRO_BFD_AT4, heard))
		return TC_ACT_SHOT;
	link->answered_ns = now_ns;
	link->answers++;
	return bpf_redirect(skb->ifindex, 0);
}

/* The far end sends, and hears us. */
static __always_inline void micro_bfd_note_heard(__u32 slot, struct xbond_bfd_link *link,
						 const struct xbond_bfd_words *words,
						 const __u8 *packet, __u64 now_ns)
{
	__u32 interval_us = micro_bfd_number(packet + BFD_AT_MIN_TX);
	__u64 detection_us;

	if (interval_us < words->session.rx_in_force_us)
		interval_us = words->session.rx_in_force_us;
	detection_us = (__u64)packet[BFD_AT_MULTIPLIER] * interval_us;
	WRITE_ONCE(link->detection_us, detection_us > 0xffffffff ? 0xffffffff : detection_us);
	link->heard_ns = now_ns;
	link->suspected = 0;
	if (words->holding)
		micro_bfd_restart_silence(slot, micro_bfd_detection_ns(link));
}

/* A packet of the session. */
static __always_inline int micro_bfd_hear(struct __sk_buff *skb, __u32 slot,
					  struct xbond_bfd_link *link, const __u8 *packet,
					  __u64 now_ns, int away)
{
	const struct xbond_bfd_words *words = micro_bfd_words(link);
	__u32 state = packet[BFD_AT_STATE] >> 6;

	if (away && (words->holding || state == BFD_ADMIN_DOWN))
		micro_bfd_hear_state(slot, link, state);
	if (state >= BFD_INIT)
		micro_bfd_note_heard(slot, link, words, packet, now_ns);
	if (state >= BFD_INIT ? READ_ONCE(link->ended) : !away || !micro_bfd_has_failed(link))
		return TC_ACT_SHOT;
	if (!micro_bfd_is_silent(link, words, now_ns))
		return TC_ACT_SHOT;
	return micro_bfd_answer(skb, link, words, packet[BFD_AT_STATE], now_ns);
}

/* Only packets for our address; what is not as it must be goes nowhere. */
static __always_inline int micro_bfd_take(struct __sk_buff *skb, __u32 slot,
					  struct xbond_bfd_link *link, const __u8 *packet,
					  __u32 length)
{
	const struct xbond_bfd_words *words = micro_bfd_words(link);
	__u32 yours = micro_bfd_number(packet + BFD_AT_YOUR_DISCR);
	__u64 now_ns = bpf_ktime_get_ns();
	int away = micro_bfd_is_away(now_ns), ours = yours == words->session.local_discr;

	if (yours && !ours) {
		link->refused++;
		return TC_ACT_SHOT;
	}
	if (ours ? micro_bfd_too_many(&link->budget[0], XBOND_BFD_PER_SECOND, now_ns)
		 : micro_bfd_too_many(&link->budget[1], XBOND_BFD_OTHERS_PER_SECOND, now_ns))
		return TC_ACT_SHOT;
	if (!away)
		micro_bfd_to_bondd(skb, slot, packet, length, now_ns);
	if (!micro_bfd_is_spoken(words, packet, length)) {
		if (away)
			drops_count(slot, XBOND_DROP_BFD_REFUSED);
		return TC_ACT_SHOT;
	}
	return micro_bfd_hear(skb, slot, link, packet, now_ns, away);
}

/* What is shorter is read as far as it tells for whom it is. */
static __always_inline int micro_bfd_read(struct __sk_buff *skb, __u8 *frame)
{
	if (skb->len >= BFD_FRAME_SIZE)
		return bpf_skb_load_bytes(skb, 0, frame, BFD_FRAME_SIZE);
	if (skb->len >= MICRO_BFD_SIZE4)
		return bpf_skb_load_bytes(skb, 0, frame, MICRO_BFD_SIZE4);
	return skb->len >= MICRO_BFD_AT4 ? bpf_skb_load_bytes(skb, 0, frame, MICRO_BFD_AT4) : -1;
}

/* The verdict for a frame that micro_bfd_may_be() has chosen, or MICRO_BFD_NOT. */
__noinline int micro_bfd_receive(struct __sk_buff *skb, __u32 slot)
{
	__u8 frame[BFD_FRAME_SIZE] = {}, datagram[4 + BFD_PACKET_SIZE]; /* from its length on */
	struct xbond_bfd_link *link;
	int kind;

	if (slot >= XBOND_MAX_SLAVES || skb->vlan_tci & 0xfff)
		return MICRO_BFD_NOT;
	link = &bfd.link[slot];
	if (!READ_ONCE(link->enabled) || micro_bfd_read(skb, frame))
		return MICRO_BFD_NOT;
	kind = bfd_frame_judge(frame, skb->len, &bfd.ends);
	if (kind == BFD_FRAME_OTHER)
		return MICRO_BFD_NOT;
	if (kind == BFD_FRAME_BAD || (!(frame[0] & 1) && skb->pkt_type != PACKET_HOST)) {
		link->refused++;
		return TC_ACT_SHOT;
	}
	if (bpf_skb_load_bytes(skb, (bfd.ends.six ? MICRO_BFD_AT6 : MICRO_BFD_AT4) - 4, datagram,
			       sizeof(datagram)))
		return TC_ACT_SHOT;
	return micro_bfd_take(skb, slot, link, datagram + 4,
			      bfd_frame_word(datagram) - BFD_UDP_SIZE);
}

#endif
