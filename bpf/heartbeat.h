/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a heartbeat of bondd counts as missing: a rule that the programs and user space share. */
#ifndef XBOND_BPF_HEARTBEAT_H
#define XBOND_BPF_HEARTBEAT_H

#include <linux/types.h>

/* Uses a signed difference, because the beat may have come after now_ns was read. */
static inline int heartbeat_is_older(__u64 beat_ns, __u64 now_ns, __s64 age_ns)
{
	return (__s64)(now_ns - beat_ns) > age_ns;
}

#endif
