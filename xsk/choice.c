/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
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
