// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TC programs of one bond: xbond_egress on bond0, xbond_port on the port side's ingress,
 * xbond_rx on each slave's ingress. bondd attaches them by TCX or clsact. With netkit, xbond_port
 * runs inside bond0's transmit function instead, where the verdicts have the same numbers as in TC,
 * and xbond_egress serves only `path direct` and queue_ids. A packet passes by TC_ACT_UNSPEC
 * everywhere, because TC_ACT_OK of a TCX program would hide clsact filters behind it.
 */
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#include "bpf/collect.h"
#include "bpf/drops_count.h"
#include "bpf/micro_bfd.h"
#include "bpf/netdev.h"
#include "bpf/probe.h"
#include "bpf/send_tc.h"
#include "bpf/send_tlb.h"
#include "bpf/slow.h"

#define POLICY_PROGRAMS policy
#include "bpf/policy_ask.h"

char _license[] SEC("license") = "GPL";

/* Only for bondd and bondctl. It is here because all maps of a bond are made together. */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_bond);
} bond SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct xbond_slave);
} slaves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_lacp);
} lacp SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_attached);
} attached SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct xbond_verdict);
} monitors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_failover);
} failover SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_afxdp);
} afxdp SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, struct xbond_quality);
} quality SEC(".maps");

/* For xbond_xdp_tx_asks. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} policy_xdp SEC(".maps");

/*
 * For XDP programs, which are loaded on their own: those of xdp.bpf.c, and those of others. The
 * kernel reserves a devmap for programs like the first one that uses it, so xbond_claim is that. It
 * is never attached.
 */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, __u32);
} xdp_slaves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, __u32);
} xdp_all SEC(".maps");

SEC("xdp.frags")
int xbond_claim(struct xdp_md *ctx)
{
	if (ctx->ingress_ifindex)
		return bpf_redirect_map(&xdp_slaves, 0, XDP_DROP);
	return bpf_redirect_map(&xdp_all, 0, XDP_DROP);
}

#include "bpf/tx.h"

SEC("tc")
int xbond_egress(struct __sk_buff *skb)
{
	return tx_egress(skb, tx_choose);
}

/* In its place while all packets cross the pair. The kernel verifies it in no time. */
SEC("?tc")
int xbond_egress_pair(struct __sk_buff *skb)
{
	return tx_cross(skb, READ_ONCE(table.flags));
}

/* While the bond has a policy. Also the other programs of such names. */
SEC("?tc")
int xbond_egress_asks(struct __sk_buff *skb)
{
	return tx_egress(skb, policy_choose_slot);
}

SEC("tc")
int xbond_port(struct __sk_buff *skb)
{
	return tx_port(skb, tx_choose);
}

SEC("?tc")
int xbond_port_asks(struct __sk_buff *skb)
{
	return tx_port(skb, policy_choose_slot);
}

/*
 * What does the policy answer? For bondctl, by BPF_PROG_RUN: the hash and the slots that may
 * transmit are in cb[0] to cb[3], the packet's length is in cb[4], the answer in cb[0] and cb[1].
 */
SEC("?tc")
int xbond_policy_try(struct __sk_buff *skb)
{
	__u64 hash = skb->cb[0] | (__u64)skb->cb[1] << 32,
	      usable = skb->cb[2] | (__u64)skb->cb[3] << 32, answer;

	answer = policy_ask(skb, hash, usable, skb->cb[4]);
	skb->cb[0] = (__u32)answer;
	skb->cb[1] = answer >> 32;
	return 0;
}

enum rx_verdict { RX_TO_BOND, RX_SLOW, RX_STAY, RX_TO_BOTH };

/* The host would answer twice, on the slave and on bond0. */
static __always_inline int rx_is_internet(const struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_IP) || skb->protocol == bpf_htons(ETH_P_IPV6) ||
	       skb->protocol == bpf_htons(ETH_P_ARP);
}

/*
 * Frames to groups that bridges do not forward. Pause and slow protocols stay on the slave, the
 * latter unless they belong to a VLAN. The others (LLDP, PTP, STP, EAPOL) are for sockets on the
 * slave, for sockets on bond0 and for a bridge above it.
 */
static __always_inline enum rx_verdict rx_classify_link_local(struct __sk_buff *skb, __u8 group)
{
	if (group == 0x01)
		return RX_STAY;
	if (group == 0x02 && skb->protocol == bpf_htons(ETH_P_SLOW) &&
	    !(skb->vlan_tci & VLAN_VID_MASK))
		return RX_SLOW;
	return rx_is_internet(skb) ? RX_TO_BOND : RX_TO_BOTH;
}

/*
 * A protocol belongs to the slave only with these groups: with any other address its frames come
 * from anywhere in the network. EAPOL to the slave's address also belongs to it, because an
 * authenticator answers to that. Whether the supplicant is on the slave or on bond0 is not known.
 */
static __always_inline enum rx_verdict rx_classify(struct __sk_buff *skb)
{
	const struct ethhdr *eth = (void *)(long)skb->data;

	if ((void *)(eth + 1) <= (void *)(long)skb->data_end && flow_is_link_local(eth))
		return rx_classify_link_local(skb, eth->h_dest[5]);
	if (skb->protocol == bpf_htons(ETH_P_EAPOL) && skb->pkt_type == PACKET_HOST &&
	    !(skb->vlan_tci & VLAN_VID_MASK))
		return RX_TO_BOTH;
	return RX_TO_BOND;
}

/* A function of its own: most packets need it not. */
__noinline int rx_collects_by_now(__u32 slot)
{
	return choose_collects_by_now(slot);
}

/*
 * A port side that is not up yet drops everything, so the frame goes around it. If bond0 is in
 * another namespace, the frame may also go straight to it. But the kernel does not determine again
 * for whom such a packet is, so only frames for the slave's address go there. Both need a bondd
 * that watches where bond0 is: the kernel drops frames to a peer in its own namespace.
 */
static __always_inline int rx_hand_over_past_the_pair(const struct __sk_buff *skb, __u32 flags)
{
	if (READ_ONCE(table.watched)) {
		if (flags & XBOND_F_OPENING && table.bond_ifindex)
			return bpf_redirect(table.bond_ifindex, BPF_F_INGRESS);
		if (flags & XBOND_F_REDIRECT_PEER && skb->pkt_type == PACKET_HOST)
			return bpf_redirect_peer(table.port_ifindex, 0);
	}
	return bpf_redirect(table.port_ifindex, 0);
}

/* To bond0. */
static __always_inline int rx_hand_over(const struct __sk_buff *skb, __u32 flags)
{
	if (path_is_direct(flags))
		return bpf_redirect(table.bond_ifindex, BPF_F_INGRESS);
	if (flags & (XBOND_F_OPENING | XBOND_F_REDIRECT_PEER))
		return rx_hand_over_past_the_pair(skb, flags);
	return bpf_redirect(table.port_ifindex, 0);
}

/*
 * Sends a copy to bond0 in the way of rx_hand_over(). The frame itself goes on on the slave: a
 * redirect would hide it from sockets that are bound to the slave and a protocol.
 */
__noinline int rx_hand_over_copy(struct __sk_buff *skb, __u32 slot)
{
	__u32 flags = READ_ONCE(table.flags);
	long refused;

	if (path_is_direct(flags) ||
	    (flags & XBOND_F_OPENING && READ_ONCE(table.watched) && table.bond_ifindex))
		refused = bpf_clone_redirect(skb, table.bond_ifindex, BPF_F_INGRESS);
	else
		refused = bpf_clone_redirect(skb, table.port_ifindex, 0);
	if (refused)
		drops_count(slot, XBOND_DROP_NO_COPY);
	return TC_ACT_UNSPEC;
}

struct xbond_own_vlans own_vlans SEC(".data.own_vlans");

/* The kernel gives it to the slave's VLAN device, before a team would get it. */
static __always_inline int rx_is_of_own_vlan(const struct __sk_buff *skb, __u32 slot)
{
	return skb->vlan_present && skb->vlan_proto == bpf_htons(ETH_P_8021Q) &&
	       slots_have(READ_ONCE(own_vlans.slots[skb->vlan_tci & VLAN_VID_MASK]), slot);
}

/* The team does not determine again for whom a frame is: slaves may have other addresses. */
static __always_inline int rx_to_team(struct __sk_buff *skb)
{
	const struct ethhdr *eth = (void *)(long)skb->data;

	if (skb->pkt_type == PACKET_OTHERHOST && (void *)(eth + 1) <= (void *)(long)skb->data_end &&
	    tlb_mac_of(eth->h_dest) == READ_ONCE(alb.bond_mac))
		bpf_skb_change_type(skb, PACKET_HOST);
	return TC_ACT_UNSPEC;
}

static __always_inline void rx_count(struct xbond_counters *counter, __u32 length)
{
	counter->rx_packets++;
	counter->rx_bytes += length;
}

__noinline int rx_drop(__u32 slot, int collecting)
{
	drops_count(slot, collecting ? XBOND_DROP_NO_CARRIER : XBOND_DROP_INACTIVE);
	return TC_ACT_SHOT;
}

SEC("tc")
int xbond_rx(struct __sk_buff *skb)
{
	__u32 slot = collect_slot(skb->ifindex), flags = READ_ONCE(table.flags);
	enum rx_verdict verdict = rx_classify(skb);
	struct xbond_counters *counter;
	int collecting, is_own = 0;

	if (verdict == RX_SLOW || verdict == RX_STAY)
		probe_note_uncounted(slot);
	if (verdict == RX_SLOW)
		return slow_receive(skb, slot);
	if (slot >= XBOND_MAX_SLAVES || verdict == RX_STAY)
		return TC_ACT_UNSPEC;
	if (flags & XBOND_F_BFD && micro_bfd_may_be(skb)) {
		int taken = micro_bfd_receive(skb, slot);

		if (taken != MICRO_BFD_NOT)
			return taken;
	}
	if (flags & (XBOND_F_PROBES | XBOND_F_ALB | XBOND_F_OWN_VLANS)) {
		if (flags & XBOND_F_OWN_VLANS && rx_is_of_own_vlan(skb, slot)) {
			probe_note_uncounted(slot);
			return TC_ACT_UNSPEC;
		}
		if (flags & XBOND_F_PROBES && probe_concerns(skb))
			probe_receive(skb, slot);
		if (flags & XBOND_F_ALB) {
			is_own = tlb_take(skb, slot);
			if (probe_concerns(skb))
				clients_hear(skb);
		}
	}
	collecting =
		slots_have(READ_ONCE(table.rx_mask), slot) || is_own || rx_collects_by_now(slot);
	if (verdict == RX_TO_BOTH && (!collecting || !(flags & XBOND_F_CARRIER))) {
		probe_note_uncounted(slot);
		return flags & XBOND_F_TEAM ? team_keep(skb) : TC_ACT_UNSPEC;
	}
	counter = bpf_map_lookup_elem(&counters, &slot);
	if (!counter)
		return TC_ACT_SHOT;
	if (!collecting || !(flags & XBOND_F_CARRIER)) {
		counter->rx_dropped++;
		return rx_drop(slot, collecting);
	}
	rx_count(counter, skb->len);
	if (flags & XBOND_F_TEAM)
		return rx_to_team(skb);
	return verdict == RX_TO_BOTH ? rx_hand_over_copy(skb, slot) : rx_hand_over(skb, flags);
}

/*
 * Is bondd there? bondd runs xbond_beat twice a second. If it does not, a timer clears
 * table.watched; if bondd dies, xbond_exit does so at once. So a packet reads one word and no
 * clock. A timer ends with the last pin of its map. Therefore somebody who removes a bond's pins by
 * hand must take its programs off the slaves, too.
 */

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

/*
 * All slaves' carriers at once, for bondd, without the RTNL lock that netlink and ethtool wait for.
 * bondd runs it by BPF_PROG_RUN on a packet of no meaning. It is a TC program because the map of
 * the devices is reserved for those.
 */

#define NETDEV_LOOK_UP 1
#define NETDEV_LOOK_LOST 2

/* Global, for the same reason as select_is_up(). */
__noinline __u32 netdev_look_at(__u32 slot)
{
	__u64 state;

	if (!netdev_is_readable()) /* it is verified by itself */
		return 0;
	state = netdev_state(slot);
	if ((state & NETDEV_SENDS) == NETDEV_START)
		return NETDEV_LOOK_UP;
	return (state & NETDEV_MAY_SEND) == NETDEV_START ? 0 : NETDEV_LOOK_LOST;
}

/*
 * Returns 1, or 0 if the kernel's devices cannot be read. The words in `wake` are bondd's. Whoever
 * else asks sets cb[0]; it has the slots that are lost in cb[0] and cb[1], and those that are up in
 * cb[2] and cb[3], if XBOND_LOOK_ANSWERED is returned.
 */
SEC("tc")
int xbond_look(struct __sk_buff *skb)
{
	__u64 up = 0, lost = 0;

	if (!netdev_is_readable())
		return 0;
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u32 seen = netdev_look_at(slot);

		up |= (__u64)(seen & NETDEV_LOOK_UP) << slot;
		lost |= (__u64)(seen >> 1 & 1) << slot;
	}
	if (skb->cb[0]) {
		skb->cb[0] = (__u32)lost;
		skb->cb[1] = lost >> 32;
		skb->cb[2] = (__u32)up;
		skb->cb[3] = up >> 32;
		return XBOND_LOOK_ANSWERED;
	}
	wake.up = up;
	wake.lost = lost;
	return 1;
}
