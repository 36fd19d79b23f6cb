/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/flow_slot.h"

#include "bpf/flow_words.h"
#include "common/slots.h"

unsigned int flow_slot_usable(const uint8_t bucket[XBOND_BUCKETS], unsigned int slot, uint64_t hash,
			      uint64_t mask)
{
	if (!mask)
		return XBOND_NO_SLOT;
	for (uint32_t turn = 1; !slots_have(mask, slot) && turn <= FLOW_TURNS; turn++) {
		hash = flow_again(hash, turn);
		slot = bucket[FLOW_BUCKET(hash)] % XBOND_MAX_SLAVES;
	}
	return slots_have(mask, slot) ? slot : (unsigned int)__builtin_ctzll(mask);
}

unsigned int flow_slot(const uint8_t bucket[XBOND_BUCKETS], uint64_t hash, uint64_t mask)
{
	return flow_slot_usable(bucket, bucket[FLOW_BUCKET(hash)] % XBOND_MAX_SLAVES, hash, mask);
}
