/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of one bond that its programs share. Those that begin with struct xbond_ are sections of
 * global data, so the programs read them by address, without a lookup. They are arrays of one entry
 * all the same. In user space xsk/choice.c stands for this header and netdev.h.
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
struct xbond_flowlets flowlets SEC(".data.flowlets");
struct xbond_moves moves SEC(".data.moves");
struct xbond_alb alb SEC(".data.alb");
struct xbond_vlans vlans SEC(".data.vlans");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct xbond_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_recent);
} recent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XBOND_BUCKETS);
	__type(key, __u32);
	__type(value, struct xbond_load);
} loads SEC(".maps");

#define CLOCK_MONOTONIC 1 /* of timers */

/* For words that bondd or bondctl may change in mid-program. */
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))

#endif
