/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of one bond that its programs share. settings, table, buckets and cursor are sections of
 * global data, so the programs read them by address, without a lookup. They are arrays of one entry
 * all the same.
 */
#ifndef XBOND_BPF_MAPS_H
#define XBOND_BPF_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"

struct xbond_settings settings SEC(".data.settings");
struct xbond_table table SEC(".data.table");
struct xbond_buckets buckets SEC(".data.buckets");
struct xbond_cursor cursor SEC(".data.cursor");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct xbond_counters);
} counters SEC(".maps");

#define CLOCK_MONOTONIC 1 /* of timers */

/* For words that bondd or bondctl may change in mid-program. */
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))

#endif
