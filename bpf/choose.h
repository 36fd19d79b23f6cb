/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker under every transmit entry point, TC and XDP alike: from the bond's mode, the
 * settings and a packet in memory to the slot. How headers are brought within reach, and how
 * the packet then leaves, is the entry point's.
 */
#ifndef XBOND_BPF_CHOOSE_H
#define XBOND_BPF_CHOOSE_H

#include "bpf/flow.h"
#include "bpf/maps.h"
#include "bpf/select.h"

#define CHOOSE_ALL 0xfe

/* 0 and the hash for most packets; -1: take choose_hash(). */
static __always_inline int choose_hash_plain(const struct packet *packet, __u64 *ret_hash)
{
	return flow_hash_plain(packet, READ_ONCE(settings.xmit_hash_policy), table.hash_seed, ret_hash);
}

/* Any packet. FLOW_SHORT: headers that count are out of reach; the hash is that of those within. */
static __always_inline int choose_hash(const struct packet *packet, __u64 *ret_hash)
{
	return flow_hash(packet, READ_ONCE(settings.xmit_hash_policy), table.hash_seed, ret_hash);
}

/*
 * A slot of mask, which must not be empty, or CHOOSE_ALL: broadcast. hash_of is called where
 * the mode hashes: it is the entry point's, which has the context, and must be inline.
 */
static __always_inline __u32 choose_slot(void *context, __u64 (*hash_of)(void *context), __u64 mask,
					 __u32 length)
{
	__u32 mode = table.mode, slot;
	__u64 hash;

	if (mode == XBOND_MODE_BALANCE_XOR) {
		hash = hash_of(context);
		slot = select_bucket(hash >> 52);
	} else if (mode == XBOND_MODE_BALANCE_RR) {
		slot = select_round_robin(mask, length);
		hash = slot;
	} else if (mode == XBOND_MODE_ACTIVE_BACKUP) {
		hash = 0;
		slot = select_active_backup();
	} else {
		return CHOOSE_ALL;
	}
	return select_usable(slot, hash, mask);
}

#endif
