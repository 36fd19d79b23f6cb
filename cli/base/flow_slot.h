/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a hash to a slot, by a table of buckets, as the programs do it. Knows no maps. */
#ifndef XBOND_CLI_BASE_FLOW_SLOT_H
#define XBOND_CLI_BASE_FLOW_SLOT_H

#include <stdint.h>

#include "bpf/abi.h"

/*
 * The rule of select_usable() in the BPF programs: slot, or another one by the hash. mask: the
 * slots that may transmit; XBOND_NO_SLOT if there are none.
 */
unsigned int flow_slot_usable(const uint8_t bucket[XBOND_BUCKETS], unsigned int slot, uint64_t hash,
			      uint64_t mask);
/* The same for a hash whose slot is that of its bucket. */
unsigned int flow_slot(const uint8_t bucket[XBOND_BUCKETS], uint64_t hash, uint64_t mask);

#endif
