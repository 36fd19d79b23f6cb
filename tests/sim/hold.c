/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slave's receive program: bpf/slow.h and slow_hold.h themselves, with the helpers it calls on
 * the simulator's clock. It runs on one port at a time, whose map entry, masks and timer are those
 * of the port. The rest of the kernel is not here.
 */
#include <string.h>

#include "tests/sim/world.h"

#include "bpf/slow.h"

static struct world *now_in;
static struct port *now_on;
static struct xbond_pdu *for_daemon;

__u64 bpf_ktime_get_ns(void)
{
	return now_in->now_ns;
}

/* Of maps that are looked up there are only the timers; drops are not counted here. */
void *bpf_map_lookup_elem(void *map, const void *key)
{
	static struct hold_timer timer;

	return map == &drops ? NULL : &timer;
}

long bpf_timer_start(struct bpf_timer *timer, __u64 ns, __u64 flags)
{
	now_on->timer_ns = now_in->now_ns + ns;
	return 0;
}

void *bpf_ringbuf_reserve(void *ring, __u64 size, __u64 flags)
{
	static struct xbond_pdu pdu;

	return &pdu;
}

void bpf_ringbuf_submit(void *record, __u64 flags)
{
	for_daemon = record;
}

long bpf_skb_load_bytes(const struct sim_skb *skb, __u32 offset, void *to, __u32 length)
{
	memcpy(to, (const uint8_t *)skb->data + offset, length);
	return 0;
}

long bpf_skb_change_tail(struct sim_skb *skb, __u32 length, __u64 flags)
{
	skb->len = length;
	return 0;
}

long bpf_skb_store_bytes(struct sim_skb *skb, __u32 offset, const void *from, __u32 length,
			 __u64 flags)
{
	memcpy((uint8_t *)skb->data + offset, from, length);
	return 0;
}

long bpf_redirect(__u32 ifindex, __u64 flags)
{
	return TC_ACT_REDIRECT;
}

/* The maps as they are for this port. */
static void enter(struct world *world, struct end end)
{
	const struct system *system = &world->system[end.system];
	uint64_t slot_bit = UINT64_C(1) << end.slot;

	now_in = world;
	now_on = &world->system[end.system].port[end.slot];
	for_daemon = NULL;
	hold[end.slot] = now_on->hold;
	table.lacp_heartbeat_ns = system->away ? system->away_ns : world->now_ns;
	table.rx_mask = now_on->collecting ? slot_bit : 0;
	table.tx_mask = now_on->distributing ? slot_bit : 0;
}

static void leave(struct end end)
{
	now_on->hold = hold[end.slot];
	now_on->collecting = table.rx_mask != 0;
	now_on->distributing = table.tx_mask != 0;
}

const struct xbond_pdu *hold_receive(struct world *world, struct end end, const uint8_t *octets)
{
	uint8_t frame[XBOND_PDU_SIZE];
	struct sim_skb skb = {
		.data = (unsigned long)frame,
		.len = sizeof(frame),
	};
	uint32_t ended;
	int verdict;

	memcpy(frame, octets, sizeof(frame));
	enter(world, end);
	ended = now_on->hold.ended;
	verdict = slow_receive(&skb, end.slot);
	leave(end);
	if (!ended && now_on->hold.ended)
		check_hold_end(world, end, octets);
	if (verdict == TC_ACT_REDIRECT)
		world_send(world, end, frame);
	return for_daemon;
}

void hold_run_timer(struct world *world, struct end end)
{
	struct hold_timer timer;

	enter(world, end);
	now_on->timer_ns = 0;
	slow_silence(NULL, &end.slot, &timer);
	leave(end);
}
