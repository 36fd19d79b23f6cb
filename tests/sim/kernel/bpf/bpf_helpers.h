/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of libbpf's header, so that bpf/slow.h compiles into the simulator and a fuzz target:
 * sections and map definitions mean nothing, helpers that are not here are functions of
 * tests/sim/hold.c or tests/fuzz/fuzz_slow.c, and a packet's memory is found by whole pointers.
 */
#ifndef XBOND_TESTS_SIM_BPF_HELPERS_H
#define XBOND_TESTS_SIM_BPF_HELPERS_H

#include <linux/types.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) value *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
/* Global functions of the programs are called in their own file only. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct sim_skb {
	unsigned long data;
	__u32 len, ifindex, vlan_present;
};
#define __sk_buff sim_skb

__u64 bpf_ktime_get_ns(void);
void *bpf_map_lookup_elem(void *map, const void *key);
#define bpf_timer_init(timer, map, flags) ((void)(timer), (void)(map), (void)(flags))
#define bpf_timer_set_callback(timer, callback) ((void)(timer), (void)(callback))
long bpf_timer_start(struct bpf_timer *timer, __u64 ns, __u64 flags);
void *bpf_ringbuf_reserve(void *ring, __u64 size, __u64 flags);
void bpf_ringbuf_submit(void *record, __u64 flags);
#define bpf_ringbuf_discard(record, flags) ((void)(record), (void)(flags))
long bpf_skb_load_bytes(const struct sim_skb *skb, __u32 offset, void *to, __u32 length);
#define bpf_skb_vlan_pop(skb) ((skb)->vlan_present = 0)
long bpf_skb_change_tail(struct sim_skb *skb, __u32 length, __u64 flags);
long bpf_skb_store_bytes(struct sim_skb *skb, __u32 offset, const void *from, __u32 length,
			 __u64 flags);
long bpf_redirect(__u32 ifindex, __u64 flags);

#endif
