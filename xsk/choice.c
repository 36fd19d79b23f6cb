/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include <string.h>

#include "xsk/choice.h"
#include "xsk/worker_maps.h"

#include "bpf/abi.h"
#include "bpf/flow.h"
#include "bpf/neighbour.h"
#include "bpf/slots.h"

#define FLOW_CONTEXT struct packet
#define XBOND_CONTEXT struct packet

static inline struct packet packet_of(const struct packet *packet)
{
	return *packet;
}

#include "bpf/send_frame.h"

static inline int xbond_is_for_all(const struct packet *packet)
{
	return neighbour_is_in(packet);
}

static inline __u32 xbond_select_tlb(struct packet *packet, __u64 mask, __u32 length)
{
	return tlb_prepare_frame(packet, mask, length);
}

#include "bpf/answer.h"

int choice_select(struct choice *choice, void *frame, __u32 length)
{
	struct packet packet = { .data = frame, .end = (char *)frame + length, .vlan_tci = -1 };

	worker = choice;
	return xbond_select_for(&packet, length);
}

int choice_collects(struct choice *choice, __u32 slot)
{
	worker = choice;
	return slots_have(READ_ONCE(table.rx_mask), slot) || choose_collects_by_now(slot);
}

int choice_take_own(struct choice *choice, __u32 slot, void *frame)
{
	__u64 mac;

	worker = choice;
	mac = READ_ONCE(table.flags) & XBOND_F_ALB ? tlb_source(slot) : 0;
	if (!mac || memcmp(frame, &mac, ETH_ALEN))
		return 0;
	mac = READ_ONCE(alb.bond_mac);
	memcpy(frame, &mac, ETH_ALEN);
	return 1;
}
