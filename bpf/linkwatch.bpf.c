// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells bondd of changes of carrier that no packet meets, before the kernel's message does:
 * linkwatch may hold that back for a second. There is one set for a bondd, and it ends with bondd.
 * Two ways, of which daemon/monitor/carrier_watch.c loads one:
 *
 * - The functions that drivers call. The record names the device.
 * - Tracepoints on linkwatch's work. When its timer runs already, a change is traced nowhere. So
 *   after WATCH_ARMED and WATCH_QUEUED, bondd looks again and again until WATCH_RAN.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/linkwatch.h"

char _license[] SEC("license") = "GPL";

#define LINK_STATE_NOCARRIER 2 /* the kernel's enum netdev_state_t */

#define CORE __attribute__((preserve_access_index))

struct net {
	__u64 net_cookie;
} CORE;

typedef struct {
	struct net *net;
} CORE possible_net_t;

struct net_device {
	unsigned long state;
	int ifindex;
	possible_net_t nd_net;
} CORE;

struct timer_list {
	void (*function)(struct timer_list *timer);
} CORE;

struct work_struct {
	void (*func)(struct work_struct *work);
} CORE;

struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
} CORE;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* As struct xbond_doubt. The compiler leaves out what a struct with a name contains, here. */
typedef struct {
	__u32 word[sizeof(struct xbond_doubt) / sizeof(__u32)];
} watch_doubt;

/*
 * The pinned `doubt` of each bond, in any place. Linux 6.1 takes only maps whose values are known
 * to be structs, as those of the inner map.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WATCH_BONDS);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, watch_doubt);
		});
} doubts SEC(".maps");

/* Writer: bondd. */
struct watch_subject subject SEC(".data.subject");

/* The address of linkwatch's work; 0: it has not been seen yet. Then a later change is not told. */
__u64 linkwatch;

/* When nobody reads, the ring is full, and this does nothing. */
static __always_inline int watch_tell(enum watch_what what, __u32 ifindex)
{
	struct watch_record record = { bpf_ktime_get_ns(), what, ifindex };

	bpf_ringbuf_output(&records, &record, sizeof(record), 0);
	return 0;
}

/* Returns 0 if the device is not meant. */
static __always_inline int watch_tell_of(const struct net_device *device)
{
	__u32 ifindex = device->ifindex, place = ifindex % WATCH_INDEXES;

	if (device->nd_net.net->net_cookie != subject.netns_cookie ||
	    !(subject.indexes[place / 64] >> place % 64 & 1))
		return 0;
	watch_tell(device->state >> LINK_STATE_NOCARRIER & 1 ? WATCH_LOST : WATCH_RETURNED,
		   ifindex);
	return 1;
}

static __always_inline void watch_raise_doubts(void)
{
	for (__u32 place = 0; place < WATCH_BONDS; place++) {
		__u32 key = place, first = 0;
		void *map = bpf_map_lookup_elem(&doubts, &key);
		struct xbond_doubt *doubt = map ? bpf_map_lookup_elem(map, &first) : NULL;

		if (doubt)
			__sync_fetch_and_add(&doubt->raised, 1);
	}
}

/*
 * A work is known by the name of its function. The address of the name is hidden from those without
 * CAP_SYSLOG. A compiler may add something after a dot.
 */
static __always_inline int watch_learn(__u64 work, __u64 function)
{
	static const char format[] = "%ps", wanted[] = "linkwatch_event";
	char name[sizeof(wanted) + 1] = {};

	if (bpf_snprintf(name, sizeof(name), format, &function, sizeof(function)) < 0 ||
	    bpf_strncmp(name, sizeof(wanted) - 1, wanted) ||
	    (name[sizeof(wanted) - 1] && name[sizeof(wanted) - 1] != '.'))
		return 0;
	linkwatch = work;
	return 1;
}

/* Every program gets the arguments of its function or tracepoint. */

SEC("fexit/netif_carrier_off")
int watch_off(__u64 *arguments)
{
	if (watch_tell_of((const struct net_device *)arguments[0]))
		watch_raise_doubts(); /* bondd, if it runs, has been told before */
	return 0;
}

SEC("fexit/netif_carrier_on")
int watch_on(__u64 *arguments)
{
	watch_tell_of((const struct net_device *)arguments[0]);
	return 0;
}

SEC("tp_btf/workqueue_queue_work")
int watch_queued(__u64 *arguments)
{
	__u64 work = arguments[2];

	if (!linkwatch)
		watch_learn(work, (__u64)((const struct work_struct *)arguments[2])->func);
	return work == linkwatch ? watch_tell(WATCH_QUEUED, 0) : 0;
}

SEC("tp_btf/timer_start")
int watch_armed(__u64 *arguments)
{
	__u64 timer = linkwatch + bpf_core_field_offset(struct delayed_work, timer);

	return arguments[0] == timer ? watch_tell(WATCH_ARMED, 0) : 0;
}

SEC("tp_btf/workqueue_execute_end")
int watch_ran(__u64 *arguments)
{
	return arguments[0] == linkwatch ? watch_tell(WATCH_RAN, 0) : 0;
}
