/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bondd and the programs of linkwatch.bpf.c tell each other. Nothing of this is pinned. */
#ifndef XBOND_BPF_LINKWATCH_H
#define XBOND_BPF_LINKWATCH_H

#include <linux/types.h>

#define WATCH_INDEXES 4096
#define WATCH_BONDS 256 /* bonds beyond that have no doubts */

enum watch_what {
	/* A device has lost its carrier, or has it again: */
	WATCH_LOST = 1,
	WATCH_RETURNED = 2,
	/* Some device's carrier has changed, and linkwatch, which sends the kernel's messages: */
	WATCH_ARMED = 3,  /* will run later */
	WATCH_QUEUED = 4, /* runs as soon as it can */
	WATCH_RAN = 5,	  /* has run */
};

struct watch_record {
	__u64 ns; /* CLOCK_MONOTONIC */
	__u32 what;
	__u32 ifindex; /* of WATCH_LOST and WATCH_RETURNED */
};

/* Which devices are meant. */
struct watch_subject {
	__u64 netns_cookie;
	__u64 indexes[WATCH_INDEXES / 64]; /* bits by the remainder of an ifindex */
};

#endif
