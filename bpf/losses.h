/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet that avoids a slot tells bondd, because the kernel may hold its own message back. If
 * nobody listens, there is at most one record for each slot, and a packet pays for a look at a
 * word.
 */
#ifndef XBOND_BPF_LOSSES_H
#define XBOND_BPF_LOSSES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/maps.h"

struct xbond_wake wake SEC(".data.wake");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} losses SEC(".maps");

/* lost: slots that have no carrier. */
static __always_inline void losses_tell(__u64 lost)
{
	struct xbond_loss loss = { .slots = lost & ~READ_ONCE(wake.told) };

	if (!loss.slots)
		return;
	loss.slots &= ~__sync_fetch_and_or(&wake.told, loss.slots);
	loss.ns = bpf_ktime_get_ns();
	if (loss.slots)
		bpf_ringbuf_output(&losses, &loss, sizeof(loss), 0);
}

#endif
