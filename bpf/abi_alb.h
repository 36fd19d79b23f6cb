/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb: which slave has which address, and where bond0 sends. A
 * part of abi.h, which includes it.
 */
#ifndef XBOND_ABI_ALB_H
#define XBOND_ABI_ALB_H

/*
 * Writer: bondd. MAC addresses are the first six bytes of a word, in the order of the wire, so that
 * one load finds a whole one. 0: none.
 */
struct xbond_alb {
	__u64 bond_mac;
	__u64 mac[XBOND_MAX_SLAVES];
	/* The active slot, then those that take over if it cannot; XBOND_NO_SLOT fills it up. */
	__u8 order[XBOND_MAX_SLAVES + 8];
};
_Static_assert(sizeof(struct xbond_alb) == 8 + 512 + 72, "alb ABI");

#define XBOND_VLAN_WORDS 64

/* Writer: BPF. */
struct xbond_vlans {
	/* A bit for each VLAN that bond0 has sent in; bondd clears them now and then. */
	__u64 vlan[XBOND_VLAN_WORDS];
};
_Static_assert(sizeof(struct xbond_vlans) == 512, "vlans ABI");

#endif
