/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb at the TC programs: which neighbour sends to which slave, what is
 * sent, and what is received.
 */
#ifndef XBOND_BPF_SEND_TLB_H
#define XBOND_BPF_SEND_TLB_H

#include <linux/bpf.h>
#include <linux/if_ether.h>

#include "bpf/choose.h"
#include "bpf/send_tc.h"

/*
 * Receive balancing of balance-alb. Each neighbour learns the address of one slave, so it sends to
 * that: bond0's ARP replies and neighbour messages leave with the address that was chosen for the
 * neighbour. The map of clients remembers it. bondd tells them when slaves change; until then, and
 * while there is no bondd, a client gets another slave with the next message to it.
 *
 * Only what has bond0's own address as the sender's is touched. So bridges, macvlans and virtual
 * machines above bond0 speak for themselves. A virtual machine may still send with bond0's address:
 * if bond0 is a port of a bridge, only IP addresses that this host has get clients. Called by the
 * TC programs only.
 */

#define CLIENTS_CONTEXT struct __sk_buff

static __always_inline long clients_load(struct __sk_buff *skb, __u32 at, void *to, __u32 size)
{
	return bpf_skb_load_bytes(skb, at, to, size);
}

static __always_inline __be16 clients_tag(struct __sk_buff *skb, __u16 *ret_vid)
{
	if (!skb->vlan_present)
		return 0;
	*ret_vid = skb->vlan_tci & VLAN_VID_MASK;
	return (__be16)skb->vlan_proto;
}

#include "bpf/clients_message.h"

#define CLIENTS_IS_THERE 17 /* EEXIST */
#define CLIENTS_WINDOW_NS 1000000000ULL

struct xbond_receivers receivers SEC(".data.receivers");

/* Few bonds have clients, so memory is taken as they come. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, XBOND_MAX_CLIENTS);
	__type(key, struct xbond_client_key);
	__type(value, struct xbond_client);
} clients SEC(".maps");

/*
 * The slot of live that has this address; SELECT_NONE: no slot. Global: one path. No bpf_loop():
 * the stacks of those who call it leave no room for one more function.
 */
__noinline __u32 clients_slot_of(__u64 mac, __u64 live, __u32 active)
{
	if (mac == READ_ONCE(alb.bond_mac))
		return active;
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(live, slot) && READ_ONCE(alb.mac[slot]) == mac)
			return slot;
	return SELECT_NONE;
}

/* The address of the slot that is next to get a client: each in turn, as in the kernel's driver. */
__noinline __u64 clients_next(__u64 live, __u32 active)
{
	__u64 some = live & READ_ONCE(receivers.mask), later, mac;
	__u32 slot;

	if (!some)
		some = live;
	later = some & ~((2ULL << receivers.turn % XBOND_MAX_SLAVES) - 1);
	slot = select_lowest(later ? later : some);
	receivers.turn = slot;
	mac = slot == active ? 0 : tlb_source(slot);
	return mac ? mac : READ_ONCE(alb.bond_mac);
}

/* A flood of forged questions must not push out real clients, nor cost more than a lookup each. */
static __always_inline int clients_admit(__u64 now_ns)
{
	if (now_ns - receivers.window_ns > CLIENTS_WINDOW_NS) {
		receivers.window_ns = now_ns;
		receivers.admitted = 0;
	}
	if (receivers.admitted >= XBOND_CLIENTS_PER_SECOND) {
		receivers.refused++;
		return 0;
	}
	receivers.admitted++;
	return 1;
}

/*
 * The entry of bond0's address itself, by which clients_hear() sees that it has moved away. Returns
 * whether it is there: without it, no client may be.
 */
static __always_inline int clients_note_own(const struct xbond_client_key *key, __u64 now_ns)
{
	struct xbond_client own = { .used_ns = now_ns };
	struct xbond_client_key of_own = *key;
	int r; /* before Linux 6.4 the upper half of what the call returns is no sign */

	__builtin_memset(of_own.peer, 0, sizeof(of_own.peer));
	r = (int)bpf_map_update_elem(&clients, &of_own, &own, BPF_NOEXIST);
	return !r || r == -CLIENTS_IS_THERE;
}

/*
 * May this address of bond0 have clients? Not if others may send with its MAC address, and it is
 * none of this host's.
 */
static __always_inline int clients_may_have(const __u8 *own, __u16 family)
{
	struct xbond_client_key mark = { .is_mark = 1 };

	if (!bpf_map_lookup_elem(&clients, &mark))
		return 1;
	__builtin_memcpy(mark.own, own, sizeof(mark.own));
	mark.family = family;
	return bpf_map_lookup_elem(&clients, &mark) != NULL;
}

static __always_inline struct xbond_client *clients_enter(const struct clients_message *message,
							  __u64 live, __u32 active, __u64 now_ns)
{
	struct xbond_client fresh = { .used_ns = now_ns };

	if (!clients_may_have(message->key.own, message->key.family) || !clients_admit(now_ns))
		return NULL;
	fresh.told = clients_next(live, active);
	if (!clients_note_own(&message->key, now_ns) ||
	    bpf_map_update_elem(&clients, &message->key, &fresh, BPF_NOEXIST))
		receivers.refused++;
	return bpf_map_lookup_elem(&clients, &message->key);
}

/* The address that the other one is to send to; 0: it is no client. */
static __always_inline __u64 clients_told(const struct clients_message *message, __u64 live,
					  __u32 active, __u64 now_ns)
{
	struct xbond_client *client = bpf_map_lookup_elem(&clients, &message->key);

	if (!client)
		client = clients_enter(message, live, active, now_ns);
	if (!client)
		return 0;
	client->used_ns = now_ns;
	client->uses++;
	if (!(message->dest & 1))
		client->mac = message->dest;
	if (clients_slot_of(client->told, live, active) == SELECT_NONE)
		client->told = clients_next(live, active);
	return client->told;
}

/* The checksum first: it needs what was there before. */
static __always_inline long clients_write(struct __sk_buff *skb,
					  const struct clients_message *message, __u64 mac)
{
	__u64 old = message->mac;
	long r = 0;

	if (message->checksum_at)
		r = bpf_l4_csum_replace(skb, message->checksum_at, (__u32)old, (__u32)mac, 4) ||
		    bpf_l4_csum_replace(skb, message->checksum_at, old >> 32, mac >> 32, 2);
	return r ? r : bpf_skb_store_bytes(skb, message->mac_at, &mac, ETH_ALEN, 0);
}

/*
 * The slot by which an ARP or neighbour message leaves, with the addresses in it that the other one
 * is to learn. A broadcast teaches everybody bond0's address; bondd sees the time, and tells the
 * clients again. Questions to a group leave by the active slave, as all multicast does. live: what
 * select_live() says. The caller asks it, because the stacks of both would not fit together.
 */
__noinline __u32 clients_prepare(struct __sk_buff *skb, __u64 live, __u32 active)
{
	__u64 told, now_ns = bpf_ktime_get_ns(), bond_mac = READ_ONCE(alb.bond_mac);
	struct clients_message message = {};
	__u32 slot;

	if (clients_read(skb, &message) || message.mac != bond_mac ||
	    clients_is_none(message.key.own))
		return active;
	if (message.reach == CLIENTS_ALL)
		WRITE_ONCE(receivers.asked_ns, now_ns);
	if ((message.reach == CLIENTS_ALL && message.is_answer) ||
	    clients_is_none(message.key.peer) || clients_is_same(message.key.own, message.key.peer))
		return active;
	told = clients_told(&message, live, active, now_ns);
	slot = told ? clients_slot_of(told, live, active) : active;
	if (message.reach == CLIENTS_ALL || slot >= XBOND_MAX_SLAVES || slot == active ||
	    clients_write(skb, &message, told) || message.reach != CLIENTS_ONE ||
	    bpf_skb_store_bytes(skb, ETH_ALEN, &told, ETH_ALEN, 0))
		return active;
	return slot;
}

/* Is it the address of bond0 or of a slave? */
__noinline int clients_is_ours(__u64 mac)
{
	if (mac == READ_ONCE(alb.bond_mac))
		return 1;
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (READ_ONCE(alb.mac[slot]) == mac)
			return 1;
	return 0;
}

static __always_inline void clients_set_due(struct xbond_client *client)
{
	if (client->due)
		return;
	client->due = 1;
	__sync_fetch_and_add(&receivers.news, 1);
}

/*
 * A client has answered: it may have asked bond0's question for the address, too. What one says
 * that has a group's address is not believed: bondd would tell the whole group.
 */
static __always_inline void clients_note_answer(const struct clients_message *message)
{
	struct xbond_client_key key = message->key;
	struct xbond_client *client;

	if (message->mac & 1)
		return;
	__builtin_memcpy(key.own, message->key.peer, sizeof(key.own));
	__builtin_memcpy(key.peer, message->key.own, sizeof(key.peer));
	client = bpf_map_lookup_elem(&clients, &key);
	if (!client)
		return;
	client->mac = message->mac;
	client->used_ns = bpf_ktime_get_ns();
	if (key.family == CLIENTS_INET && client->told != READ_ONCE(alb.bond_mac))
		clients_set_due(client);
}

/*
 * What slaves hear, of frames for which probe_concerns() is true: the addresses of clients that
 * bond0 has asked, and whether somebody else has an address that was bond0's. Clients must not be
 * told of that any more.
 */
__noinline int clients_hear(struct __sk_buff *skb)
{
	struct clients_message message = {};
	struct xbond_client *own;

	if (clients_read(skb, &message) || clients_is_none(message.key.own))
		return 0;
	if (message.is_answer && message.reach == CLIENTS_ONE && !clients_is_none(message.key.peer))
		clients_note_answer(&message);
	__builtin_memset(message.key.peer, 0, sizeof(message.key.peer));
	own = bpf_map_lookup_elem(&clients, &message.key);
	if (own && !clients_is_ours(message.mac))
		clients_set_due(own);
	return 0;
}

/* balance-tlb and balance-alb at the TC programs: what is sent, and what is received. */

/* By the hash, unless the packet's queue_mapping asks for a slot that may transmit. */
static __always_inline __u32 tlb_choose(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	if (asked < XBOND_MAX_SLAVES && slots_have(mask, asked) &&
	    select_is_up(asked, NETDEV_SENDS))
		return asked;
	return choose_slot(skb, hash_of, mask, skb->len, READ_ONCE(table.flags));
}

/*
 * The slot of mask by which a packet leaves, with the source address that it has to have there. The
 * caller sends it. asked: as in tx_transmit().
 */
__noinline __u32 tlb_prepare(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	enum tlb_kind kind = tlb_kind_of_skb(skb);
	__u32 active = tlb_active(mask);

	if (kind == TLB_BALANCED)
		return tlb_give_source(skb, tlb_choose(skb, mask, asked), active);
	if (READ_ONCE(table.flags) & XBOND_F_ALB && (kind == TLB_ARP || kind == TLB_NEIGHBOUR))
		return clients_prepare(skb, select_live(mask), active);
	return active;
}

/* Is it the address of a slave that cannot send now? That of a slot without a slave is zero. */
static __always_inline int tlb_is_orphaned(__u64 mac)
{
	__u64 mask = READ_ONCE(table.tx_mask);

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (READ_ONCE(alb.mac[slot]) == mac)
			return mac &&
			       (!slots_have(mask, slot) || !select_is_up(slot, NETDEV_MAY_SEND));
	return 0;
}

/*
 * balance-alb: makes a frame for a slave's address one for bond0's. Returns whether the slave
 * receives it, active or not. The active slave also takes frames for slaves that are down, which
 * switches send everywhere.
 */
__noinline int tlb_take(struct __sk_buff *skb, __u32 slot)
{
	const struct ethhdr *eth = (void *)(long)skb->data;
	__u64 dest, mine = READ_ONCE(alb.bond_mac);

	if ((void *)(eth + 1) > (void *)(long)skb->data_end || slot >= XBOND_MAX_SLAVES)
		return 0;
	dest = tlb_mac_of(eth->h_dest);
	if (dest == mine || eth->h_dest[0] & 1)
		return 0;
	if (dest != READ_ONCE(alb.mac[slot]) &&
	    !(tlb_is_orphaned(dest) && choose_collects_by_now(slot)))
		return 0;
	return !bpf_skb_store_bytes(skb, 0, &mine, ETH_ALEN, 0);
}

#endif
