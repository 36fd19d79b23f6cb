/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Sets of slots: a bit for each of a bond's XBOND_MAX_SLAVES. For the programs, the library for
 * AF_XDP, bondd and bondctl.
 */
#ifndef XBOND_BPF_SLOTS_H
#define XBOND_BPF_SLOTS_H

#include <stdint.h>

#include "bpf/abi.h"

/* Nothing for XBOND_NO_SLOT and whatever else is no slot. */
static inline __attribute__((always_inline)) uint64_t slots_bit(unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? UINT64_C(1) << slot : 0;
}

static inline __attribute__((always_inline)) _Bool slots_have(uint64_t slots, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES && slots >> slot & 1;
}

/* The first of them from this one on; XBOND_MAX_SLAVES: there is none. */
static inline unsigned int slots_next(uint64_t slots, unsigned int from)
{
	slots &= from < XBOND_MAX_SLAVES ? ~UINT64_C(0) << from : 0;
	return slots ? (unsigned int)__builtin_ctzll(slots) : XBOND_MAX_SLAVES;
}

#define slots_for_each(slots, slot)                                             \
	for (unsigned int slot = slots_next(slots, 0); slot < XBOND_MAX_SLAVES; \
	     slot = slots_next(slots, slot + 1))

static inline unsigned int slots_count(uint64_t slots)
{
	return (unsigned int)__builtin_popcountll(slots);
}

#endif
