/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb: which slave has the bond's address, and what source address a packet
 * gets on another slave. Knows packet memory and maps; the entry points rewrite and send.
 *
 * The switches know one port for each address. So only the active slave sends with the bond's, and
 * each other slave with its own. Received frames come to the active slave, and in balance-alb
 * also to the slave whose address they are for.
 */
#ifndef XBOND_BPF_TLB_H
#define XBOND_BPF_TLB_H

#include <linux/if_ether.h>

#include "bpf/select.h"
#include "bpf/tlb_kind.h"

struct xbond_alb alb SEC(".data.alb");
struct xbond_vlans vlans SEC(".data.vlans");

/* The slave that the user has asked for, or that bondd has chosen. May be no slot at all. */
static __always_inline __u32 tlb_chosen(void)
{
	if (READ_ONCE(settings.active_request) != READ_ONCE(table.active_request))
		return READ_ONCE(settings.active_slot);
	return READ_ONCE(alb.order[0]);
}

/* The slot of mask, which must not be empty, that has the bond's address now. */
__noinline __u32 tlb_active(__u64 mask)
{
	__u32 slot = tlb_chosen();

	if (slot < XBOND_MAX_SLAVES && mask >> slot & 1 && !netdev_is_lost(slot))
		return slot;
	return select_first(alb.order, select_live(mask));
}

/*
 * The address that a packet has to have as its source on this slot; 0: it may not leave there. The
 * slave may still have the bond's address when another one has taken over.
 */
static __always_inline __u64 tlb_source(__u32 slot)
{
	__u64 mac = READ_ONCE(alb.mac[slot % XBOND_MAX_SLAVES]);

	return mac == READ_ONCE(alb.bond_mac) ? 0 : mac;
}

/* The switches are told of the slaves in this VLAN, too (learning packets). */
static __always_inline void tlb_note_vlan(__u32 vid)
{
	__u64 *word = &vlans.vlan[vid / 64 % XBOND_VLAN_WORDS], bit = 1ULL << vid % 64;

	if (vid && !(READ_ONCE(*word) & bit))
		__sync_fetch_and_or(word, bit);
}

static __always_inline enum tlb_kind tlb_kind_of(const struct packet *packet)
{
	__u16 vid;
	enum tlb_kind kind = tlb_kind_in(packet, &vid);

	tlb_note_vlan(vid);
	return kind;
}

#endif
