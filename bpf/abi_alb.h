/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb: which slave has which address, where bond0 sends, and which
 * neighbours send to which slave. A part of abi.h, which includes it.
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

#define XBOND_MAX_CLIENTS 4096
#define XBOND_CLIENTS_PER_SECOND 256 /* as many may be new */

/*
 * The key of the map of clients, of balance-alb: a neighbour, and the address of bond0 that it
 * sends to. An IPv4 address is in the first four bytes. If the neighbour's address is zero, the
 * entry is for the address of bond0 itself.
 *
 * Marks are bondd's. While there is one without addresses and family, only the addresses of marks
 * without a neighbour and a VLAN may have new clients.
 */
struct xbond_client_key {
	__u8 own[16], peer[16];
	__u16 family;	      /* AF_INET, AF_INET6 */
	__be16 vlan_protocol; /* 0: untagged */
	__u16 vlan;
	__u16 is_mark;
};
_Static_assert(sizeof(struct xbond_client_key) == 40, "client key ABI");

/*
 * Writer: BPF; told and tells also bondd, which writes the whole entry. What BPF writes in that
 * moment is lost: it finds out the same from the neighbour's next message.
 */
struct xbond_client {
	__u64 mac;     /* the neighbour's, as in struct xbond_alb; 0: not heard yet */
	__u64 told;    /* the address that it is to send to, likewise */
	__u64 used_ns; /* its last message, or the last one to it */
	__u32 uses;    /* how many of these */
	__u16 due;     /* it has answered bond0's question, and may have learnt another address */
	__u16 tells;   /* how often bondd still has to tell it */
};
_Static_assert(sizeof(struct xbond_client) == 32, "client ABI");

/* Which slaves clients get. */
struct xbond_receivers {
	/* Writer: bondd. */
	__u64 mask;	/* slots that new clients get, if they work; 0: all */
	__u64 levelled; /* slots among which the clients were last shared out */
	/* Writer: BPF. */
	__u64 asked_ns;	 /* when bond0 last told everybody its own address: all send to that now */
	__u64 window_ns; /* when this second began */
	__u32 admitted;	 /* new clients in it */
	__u32 refused;	 /* those beyond the limit, ever */
	__u32 turn;	 /* the slot that the last new client got */
	__u32 news;	 /* raised when a client is due, or an address of bond0 has moved away */
};
_Static_assert(sizeof(struct xbond_receivers) == 48, "receivers ABI");

#endif
