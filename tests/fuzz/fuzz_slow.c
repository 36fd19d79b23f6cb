/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of any content and length to bpf/slow.h and slow_hold.h, on a port whose entry in the map
 * `hold` has any content, while bondd comes and goes. The headers are compiled for this machine as
 * the simulator does it (tests/sim/kernel); the helpers here refuse what the kernel refuses.
 */
#include <errno.h>
#include <stdbool.h>

#include "tests/fuzz/input.h"

#include "bpf/slow.h"

#define MOST 300
#define OTHERS UINT64_C(0xaaaaaaaaaaaaaaaa)

static struct {
	uint64_t now_ns;
	uint8_t *frame; /* of the skb, MOST bytes of room */
	uint32_t length;
	bool stored_all; /* the answer, from its first byte to its last */
	struct xbond_pdu pdu;
	bool for_daemon;
	bool redirected;
	uint64_t timer_ns;
} slow;

__u64 bpf_ktime_get_ns(void)
{
	return slow.now_ns;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	static struct hold_timer timer;

	if (map == &drops)
		return NULL;
	input_check(*(const __u32 *)key < XBOND_MAX_SLAVES, "the slot of a timer exists");
	return &timer;
}

long bpf_timer_start(struct bpf_timer *timer, __u64 ns, __u64 flags)
{
	slow.timer_ns = slow.now_ns + ns;
	return 0;
}

void *bpf_ringbuf_reserve(void *ring, __u64 size, __u64 flags)
{
	input_check(size == sizeof(slow.pdu), "a record is one PDU");
	return &slow.pdu;
}

void bpf_ringbuf_submit(void *record, __u64 flags)
{
	slow.for_daemon = true;
}

long bpf_skb_load_bytes(const struct sim_skb *skb, __u32 offset, void *to, __u32 length)
{
	if (offset + length > skb->len)
		return -EFAULT;
	memcpy(to, slow.frame + offset, length);
	return 0;
}

long bpf_skb_change_tail(struct sim_skb *skb, __u32 length, __u64 flags)
{
	input_check(length <= MOST, "an answer is of the size of a PDU");
	skb->len = slow.length = length;
	return 0;
}

long bpf_skb_store_bytes(struct sim_skb *skb, __u32 offset, const void *from, __u32 length,
			 __u64 flags)
{
	if (offset + length > skb->len)
		return -EFAULT;
	memcpy(slow.frame + offset, from, length);
	slow.stored_all |= offset == 0 && length == skb->len;
	return 0;
}

long bpf_redirect(__u32 ifindex, __u64 flags)
{
	slow.redirected = true;
	return TC_ACT_REDIRECT;
}

static void slow_check_masks(uint32_t slot, uint64_t rx_before, uint64_t tx_before, uint32_t told)
{
	uint64_t bit = UINT64_C(1) << slot;

	input_check(!((table.rx_mask ^ rx_before) & ~bit) && !((table.tx_mask ^ tx_before) & ~bit),
		    "the masks change for no other slot");
	input_check(!(table.rx_mask & ~rx_before & bit) || told & LACP_COLLECTING,
		    "a port collects only if bondd wants it");
	input_check(!(table.tx_mask & ~tx_before & bit) || told & LACP_DISTRIBUTING,
		    "a port distributes only if bondd wants it");
}

static void slow_check_answer(const struct sim_skb *skb, const struct xbond_hold *before)
{
	const struct xbond_hold_words *words = &before->words[before->in_force & 1];

	input_check(slow_bondd_is_away(slow.now_ns), "bondd is away");
	input_check(words->holding && words->current, "the port is to be held");
	input_check(skb->len == XBOND_PDU_SIZE && slow.stored_all && !skb->vlan_present,
		    "an answer is one whole PDU, without a tag");
}

static void slow_one_frame(struct input *input, uint32_t slot)
{
	uint64_t rx_before = table.rx_mask, tx_before = table.tx_mask;
	struct xbond_hold before = hold[slot];
	uint32_t size = input_u8(input);
	struct sim_skb skb = { .vlan_present = input_u8(input) & 1 };
	int verdict;

	slow.frame = malloc(MOST);
	if (!slow.frame)
		abort();
	input_take(input, slow.frame, size);
	skb.data = (unsigned long)slow.frame;
	skb.len = slow.length = size;
	slow.stored_all = slow.for_daemon = slow.redirected = false;
	verdict = slow_receive(&skb, slot);
	input_check(verdict == TC_ACT_UNSPEC || verdict == TC_ACT_SHOT ||
			    verdict == TC_ACT_REDIRECT,
		    "a verdict of those there are");
	input_check((verdict == TC_ACT_REDIRECT) == slow.redirected, "an answer goes out");
	if (slow.redirected)
		slow_check_answer(&skb, &before);
	if (slow.for_daemon)
		input_check(slow.pdu.length <= sizeof(slow.pdu.frame) && slow.pdu.slot == slot,
			    "a record has room for its frame");
	slow_check_masks(slot, rx_before, tx_before, before.words[before.in_force & 1].told);
	free(slow.frame);
}

static void slow_run_timer(uint32_t slot)
{
	uint64_t rx_before = table.rx_mask, tx_before = table.tx_mask;
	struct hold_timer timer;

	slow.now_ns = slow.timer_ns;
	slow.timer_ns = 0;
	slow_silence(NULL, &slot, &timer);
	input_check(!(table.rx_mask & ~rx_before) && !(table.tx_mask & ~tx_before),
		    "silence only takes");
}

/* A step: bondd beats or not, time goes on, a frame comes. */
static void slow_step(struct input *input, uint32_t slot)
{
	uint8_t what = input_u8(input);

	slow.now_ns += (uint64_t)input_u16(input) * 1000000;
	if (what & 1)
		table.lacp_heartbeat_ns = slow.now_ns;
	if (slow.timer_ns && slow.timer_ns <= slow.now_ns)
		slow_run_timer(slot);
	slow_one_frame(input, slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint32_t slot = input_u8(&input) % (XBOND_MAX_SLAVES + 1);
	uint8_t masks = input_u8(&input);

	memset(hold, 0, sizeof(hold));
	slow.now_ns = UINT64_C(1000000000000);
	slow.timer_ns = 0;
	table.lacp_heartbeat_ns = masks & 4 ? slow.now_ns : 1;
	if (slot == XBOND_MAX_SLAVES) {
		struct sim_skb skb = { .len = 0 };

		input_check(slow_receive(&skb, slot) == TC_ACT_UNSPEC, "no such slot");
		return 0;
	}
	table.rx_mask = (OTHERS & ~(UINT64_C(1) << slot)) | (uint64_t)(masks & 1) << slot;
	table.tx_mask = (OTHERS & ~(UINT64_C(1) << slot)) | (uint64_t)(masks >> 1 & 1) << slot;
	input_take(&input, &hold[slot], sizeof(hold[slot]));
	while (input.left)
		slow_step(&input, slot);
	return 0;
}
