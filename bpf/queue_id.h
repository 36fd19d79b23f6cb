/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue_id: a packet whose queue_mapping is that of a slave takes this slave, if the slave may
 * transmit. The mapping is read where a packet enters bond0, before the stack changes it to a queue
 * of the pair. It crosses the pair in tc_index, together with the priority.
 */
#ifndef XBOND_BPF_QUEUE_ID_H
#define XBOND_BPF_QUEUE_ID_H

#include "bpf/maps.h"
#include "bpf/select.h"

#define QUEUE_CROSSING 0x8000 /* in tc_index: a slot in bits 8 to 13, the priority below */
#define QUEUE_SLOT(tc_index) ((tc_index) >> 8 & (XBOND_MAX_SLAVES - 1))

__noinline __u32 queue_slot(__u32 queue_mapping)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (queue_mapping && table.queue_id[slot] == queue_mapping)
			return slot;
	return SELECT_NONE;
}

static __always_inline int queue_ids_used(void)
{
	return READ_ONCE(table.flags) & XBOND_F_QUEUE_IDS;
}

/* The value that tc_index needs so that the slave and a small priority survive; 0: none. */
static __always_inline __u32 queue_before_crossing(__u32 queue_mapping, __u32 priority)
{
	__u32 slot = queue_slot(queue_mapping);

	if (slot < XBOND_MAX_SLAVES)
		return QUEUE_CROSSING | slot << 8 | (priority <= 0xff ? priority : 0);
	return priority < QUEUE_CROSSING ? priority : 0;
}

#endif
