/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is bondd there? bondd runs xbond_beat twice a second. If it does not, a timer clears
 * table.watched; if bondd dies, xbond_exit does so at once. So a packet reads one word and no
 * clock. A timer ends with the last pin of its map. Therefore somebody who removes a bond's pins by
 * hand must take its programs off the slaves, too.
 */
#ifndef XBOND_BPF_WATCHDOG_H
#define XBOND_BPF_WATCHDOG_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/maps.h"
#include "bpf/rarp.h"

struct watchdog {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watchdog);
} watchdog SEC(".maps");

static int watchdog_bites(void *map, __u32 *key, struct watchdog *dog)
{
	(void)map;
	(void)key;
	(void)dog;
	table.watched = 0;
	return 0;
}

/* Run by bondd. Returns 0, or the error of the timer; nothing is set then. */
SEC("syscall")
int xbond_beat(void *context)
{
	__u32 key = 0;
	struct watchdog *dog = bpf_map_lookup_elem(&watchdog, &key);
	long refused;

	(void)context;
	if (!dog)
		return -1;
	/* Refused if it is a timer already. */
	bpf_timer_init(&dog->timer, &watchdog, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&dog->timer, watchdog_bites);
	refused = bpf_timer_start(&dog->timer, XBOND_HEARTBEAT_FRESH_NS, 0);
	if (!refused) {
		told.bondd = bpf_get_current_pid_tgid() >> 32;
		table.watched = 1;
		rarp_bondd_is_here();
		netdev_settle_doubt();
	}
	return (int)refused;
}

/*
 * Attached by bondd, and so only as long as it lives: the kernel closes the files of a process
 * after this. bondd's first thread ends only with bondd.
 */
SEC("raw_tp/sched_process_exit")
int xbond_exit(void *context)
{
	__u64 who = bpf_get_current_pid_tgid();

	(void)context;
	if (who >> 32 == (__u32)who && (__u32)who == told.bondd)
		table.watched = 0;
	return 0;
}

#endif
