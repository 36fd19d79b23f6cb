// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A classifier for the ingress of any device (a tunnel, a container's veth) that sends Ethernet
 * frames of IP straight out of the slave that the bond would choose, past the bond's own device.
 * The bond counts them. Build and attach it, for bond0 and the device dev0:
 *
 *   clang -O2 -g -ffreestanding -target bpf -mcpu=v3 -I/usr/include/$(uname -m)-linux-gnu \
 *       -c pick.bpf.c -o pick.o
 *   cd /sys/fs/bpf/xbond/bond0
 *   bpftool prog load pick.o /sys/fs/bpf/pick type classifier \
 *       map name .data.settings pinned settings map name .data.table pinned table \
 *       map name .data.buckets pinned buckets map name .data.cursor pinned cursor \
 *       map name .data.wake pinned wake map name counters pinned counters \
 *       map name devices pinned devices map name losses pinned losses
 *   tc qdisc add dev dev0 clsact
 *   tc filter add dev dev0 ingress bpf direct-action object-pinned /sys/fs/bpf/pick
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <xbond/bpf/choose.h>

char _license[] SEC("license") = "GPL";

/* What xbond/bpf/flow_hook.h asks for: the type of the context, and the packet in it. */
#define FLOW_CONTEXT struct __sk_buff

static __always_inline struct packet packet_of(struct __sk_buff *skb)
{
	return (struct packet){
		.data = (void *)(long)skb->data,
		.end = (void *)(long)skb->data_end,
		.vlan_tci = skb->vlan_present ? (__s32)skb->vlan_tci : -1,
	};
}

#include <xbond/bpf/flow_hook.h>

/* Headers beyond the linear part count for nothing; bpf_skb_pull_data() would make them readable.
 */
__noinline __u64 hash_headers(struct __sk_buff *skb)
{
	const struct flow_hook hook = flow_hook_of(skb);
	struct flow_rule rule = choose_rule();
	struct packet packet = packet_of(skb);
	__u64 hash;

	flow_hash(&packet, &rule, &hook, &hash);
	return hash;
}

static __always_inline __u64 hash_of(void *context)
{
	struct packet packet = packet_of(context);
	struct flow_rule rule = choose_rule_plain();
	__u64 hash;

	return flow_hash_plain(&packet, &rule, &hash) ? hash_headers(context) : hash;
}

SEC("classifier")
int pick(struct __sk_buff *skb)
{
	__u32 flags = READ_ONCE(table.flags), slot;
	__u64 mask = select_mask(flags);

	if (!(flags & XBOND_F_CARRIER) || !mask)
		return TC_ACT_SHOT;
	slot = choose_slot(skb, hash_of, mask, skb->len, flags) & ~CHOOSE_TELL;
	if (slot >= XBOND_MAX_SLAVES) /* CHOOSE_ALL: every slave gets a copy, by bond0 itself */
		return (int)bpf_redirect(table.bond_ifindex, 0);
	choose_count(slot, skb->len);
	return (int)bpf_redirect(table.ifindex[slot], 0);
}
