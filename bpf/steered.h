/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a hash to a slot where more decides than the bucket's owner: load, and gaps in flows. For
 * choose.h, which asks only if one of these is on.
 */
#ifndef XBOND_BPF_STEERED_H
#define XBOND_BPF_STEERED_H

#include "bpf/flow.h"
#include "bpf/select.h"

/* Returns a slot, which may be none that may transmit. */
__noinline __u32 steer_slot(__u64 hash)
{
	return select_bucket(FLOW_BUCKET(hash));
}

#endif
