/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the receive programs of a slave, TC and XDP, share: which slot they are on, and which frames
 * need more than being handed to the bond.
 */
#ifndef XBOND_BPF_COLLECT_H
#define XBOND_BPF_COLLECT_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>

#include "bfd/bfd_wire.h"
#include "bpf/maps.h"
#include "bpf/select.h"

#define ETH_P_EAPOL 0x888e

/* slot_of[] is a hint: two ifindexes may share an entry. */
__noinline __u32 collect_slot_by_search(__u32 ifindex)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (table.ifindex[slot] == ifindex)
			return slot;
	return SELECT_NONE;
}

static __always_inline __u32 collect_slot(__u32 ifindex)
{
	__u32 slot = buckets.slot_of[ifindex % XBOND_SLOT_CACHE] % XBOND_MAX_SLAVES;

	return table.ifindex[slot] == ifindex ? slot : collect_slot_by_search(ifindex);
}

/* What tells a packet of micro-BFD from others at little cost, for TC and XDP. */

/* Offsets of the protocol and the destination port in a frame without options. */
#define MICRO_BFD_PROTOCOL4 (BFD_ETHER_SIZE + 9)
#define MICRO_BFD_PORT4 (BFD_ETHER_SIZE + BFD_IPV4_SIZE + 2)
#define MICRO_BFD_PROTOCOL6 (BFD_ETHER_SIZE + 6)
#define MICRO_BFD_PORT6 (BFD_ETHER_SIZE + BFD_IPV6_SIZE + 2)

/* The caller has compared the frame's end. */
static __always_inline int micro_bfd_is_port(const __u8 *frame, __u32 protocol, __u32 port)
{
	return frame[protocol] == IPPROTO_UDP &&
	       *(const __be16 *)(frame + port) == bpf_htons(BFD_MICRO_PORT);
}

#endif
