/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What the programs decide by for each packet, and what they count. A part of abi.h, which includes
 * it.
 */
#ifndef XBOND_ABI_PACKET_H
#define XBOND_ABI_PACKET_H

/*
 * Writer: bondctl. bondd writes at create, apply and rollback, and into a slot's fields before the
 * slot is a member.
 */
struct xbond_settings {
	__u64 drain_mask;	 /* slots that carry traffic only when no other can */
	__u32 path;		 /* enum xbond_path */
	__u32 xmit_hash_policy;	 /* enum xbond_policy */
	__u32 packets_per_slave; /* 0: random */
	__u32 bytes_per_slave;	 /* 0: off; wins over packets_per_slave */
	__u32 active_slot;	 /* the slave asked for by `set active_slave` */
	/* Counts these requests: raised by one after active_slot is written. */
	__u32 active_request;
	__u32 weight[XBOND_MAX_SLAVES]; /* 0: auto */
	__u32 symmetric;		/* both directions of a flow hash alike */
	__u32 ip6_flow_label;		/* counts where ports count */
};
_Static_assert(sizeof(struct xbond_settings) == 296, "settings ABI");

#define XBOND_HEARTBEAT_FRESH_NS 3000000000LL /* older: bondd is away */

/*
 * Is a heartbeat of bondd missing? Uses a signed difference, because the beat may have come after
 * now_ns was read.
 */
static inline int xbond_heartbeat_is_older(__u64 beat_ns, __u64 now_ns, __s64 age_ns)
{
	return (__s64)(now_ns - beat_ns) > age_ns;
}

/* xbond_table.flags */
#define XBOND_F_FORCE_COUNTED 0x1      /* `direct` is forbidden now: port_hooks.c says why */
#define XBOND_F_CARRIER 0x2	       /* the bond has carrier */
#define XBOND_F_BROADCAST_NEIGHBOR 0x4 /* ARP and neighbour discovery leave by every slave */
#define XBOND_F_DRAIN_MARKERS 0x8      /* a drain begins when the partner has answered a marker */
/* Packets of the stack go direct, whatever settings.path says, because XDP chooses on the pair. */
#define XBOND_F_STACK_DIRECT 0x10
#define XBOND_F_XDP_TX 0x20    /* the XDP program of the port side chooses, else it passes */
#define XBOND_F_QUEUE_IDS 0x40 /* some slave has a queue_id */
/* bond0 is in another namespace, so packets can reach it without the CPU's backlog. */
#define XBOND_F_REDIRECT_PEER 0x80
#define XBOND_F_NETKIT 0x100  /* bond0 is a netkit: only a queue_id is in tc_index */
#define XBOND_F_OPENING 0x200 /* 802.3ad: ports collect, and the pair's port side is not up yet */
#define XBOND_F_PROBES 0x400  /* the ARP monitor is on: the programs write down what slaves hear */
#define XBOND_F_BFD 0x800     /* slaves may get packets of micro-BFD */
#define XBOND_F_LOADS 0x1000  /* what each bucket sends is counted */
#define XBOND_F_FLOWLETS 0x2000 /* a flow may change its slave after a gap */
#define XBOND_F_POLICY 0x4000	/* the programs are those that ask a policy (bpf/policy_ask.h) */
#define XBOND_F_TLB 0x8000	/* slaves have addresses of their own (bpf/choose.h) */
#define XBOND_F_ALB 0x10000	/* also: slaves that are not active receive (bpf/send_tlb.h) */
#define XBOND_F_TEAM 0x20000	/* bond0 is a team (bpf/tx.h) */
/* A takeover or handback goes on, which would lose what bondctl writes into the settings. */
#define XBOND_F_HANDED_OVER 0x40000
/* The team sends by the slot that a packet's hash names (network/bonding.h). */
#define XBOND_F_TEAM_SENDS 0x80000
#define XBOND_F_OWN_VLANS 0x100000 /* some slave has VLANs of its own (struct xbond_own_vlans) */
/* More than the bucket's owner decides (bpf/choose.h): one test for both. */
#define XBOND_F_STEERED (XBOND_F_LOADS | XBOND_F_FLOWLETS)

/*
 * What xbond/select.bpf.h promises to programs of others. It is raised when one of these maps
 * changes its size, or a program that was compiled before would choose other slaves than the bond:
 * settings, table, buckets, cursor, counters, wake, doubt, losses, loads, moves, flowlets, recent,
 * alb, vlans, devices, xdp_slaves, xdp_all.
 */
#define XBOND_SELECT_ABI 1

/* What xbond_select() returns if it is not a slot, 0 to 63. */
enum xbond_selected {
	XBOND_EVERY_SLAVE = XBOND_MAX_SLAVES,
	XBOND_NO_SLAVE = -1, /* no slave may transmit, or the bond has no carrier */
	/*
	 * The maps are a bond's no longer: load the program anew, over the maps of today. Or the
	 * bond has a policy, which its own programs ask.
	 */
	XBOND_NO_BOND = -2,
};

#define XBOND_BYTE_COST_ONE 256 /* lighter slaves pay more */

/*
 * What the programs decide by. Writer: bondd, except for `watched`. One store publishes each of:
 * active copy, masks, flags. In 802.3ad the masks, XBOND_F_CARRIER and XBOND_F_OPENING are written
 * only under the lock of the LACP thread, and while that thread is away the programs take slots out
 * of the masks.
 */
struct xbond_table {
	__u64 tx_mask;	 /* slots that may transmit now */
	__u64 rx_mask;	 /* slots that may collect */
	__u32 active;	 /* which copy of the buckets is in force: 0 or 1 */
	__u32 selection; /* enum xbond_selection */
	__u32 flags;	 /* XBOND_F_* */
	__u32 hash_seed;
	__u32 bond_ifindex; /* in the port side's namespace; 0 while bond0 is elsewhere */
	__u32 port_ifindex;
	__u32 active_request; /* the settings.active_request that bondd has last acted on */
	/* 1 while bondd sends its heartbeat: xbond_beat sets it, the watchdog clears it. */
	__u32 watched;
	__u32 bucket_count[2]; /* buckets in use per copy: all, or whole rounds of
				  XBOND_SELECT_TURNS */
	__u64 netns_cookie;    /* of the port side's namespace, for adoption; 0: unknown */
	/* CLOCK_MONOTONIC; 0 after an orderly stop. Kept off the cache line of the fields above. */
	__u64 heartbeat_ns;
	__u64 lacp_heartbeat_ns; /* of bondd's LACP thread; 0 after an orderly stop */
	/* Used instead of settings.drain_mask while XBOND_F_DRAIN_MARKERS is set. */
	__u64 drained;
	/* XBOND_SELECT_ABI of this bondd; keeps its place. 0: these maps are a bond's no longer. */
	__u32 select_abi;
	__u32 pad0;
	__u64 flowlet_gap_ns; /* while XBOND_F_FLOWLETS is set */
	/*
	 * Slots that the programs have found to fail while bondd is away, and took out of tx_mask
	 * if others were left. Writer: BPF; bondd clears it when it decides. See micro_bfd_away.h.
	 */
	__u64 failed;
	__u64 pad1[2];
	__u32 ifindex[XBOND_MAX_SLAVES]; /* 0: free slot */
	/* In round-robin by bytes: XBOND_BYTE_COST_ONE for the heaviest slave. */
	__u32 byte_cost[XBOND_MAX_SLAVES];
	/* Packets with this queue_mapping take the slave; 0: no packets do. */
	__u16 queue_id[XBOND_MAX_SLAVES];
};
_Static_assert(sizeof(struct xbond_table) == 128 + 2 * 256 + 128, "table ABI");
_Static_assert(__builtin_offsetof(struct xbond_table, select_abi) == 88, "loader.h of any version");

/* Writer: bondd. Separate from the table so that a dump of the table stays readable. */
struct xbond_buckets {
	/*
	 * table.active tells which is in force. In active-backup: the active slot, then all slots
	 * in the order in which they would take over.
	 */
	__u8 bucket[2][XBOND_BUCKETS];
	/* From ifindex % size to the slot: a hint, to be checked against table.ifindex[]. */
	__u8 slot_of[XBOND_SLOT_CACHE];
	/* Only for bondd: the owner of each bucket when every slave works. */
	__u8 home[XBOND_BUCKETS];
};
_Static_assert(sizeof(struct xbond_buckets) == 8192 + 1024 + 4096, "buckets ABI");

/*
 * Writer: BPF, one copy per CPU and slot. A GSO packet is one packet; bytes are skb->len. All are
 * counts, which common/pins.c adds up.
 */
struct xbond_counters {
	__u64 tx_packets;
	__u64 tx_bytes;
	__u64 rx_packets;
	__u64 rx_bytes;
	__u64 rx_dropped; /* slave may not collect, or the bond has no carrier */
};
_Static_assert(sizeof(struct xbond_counters) == 40, "counters ABI");

/*
 * Writers: processes with AF_XDP sockets on the slaves (xsk/), by atomic additions. When a slave
 * leaves, bondd moves its counts to `retired`. What is new goes to the end: programs may have an
 * older library.
 */
struct xbond_afxdp {
	struct xbond_counters slot[XBOND_MAX_SLAVES];
	struct xbond_counters retired;
};
_Static_assert(sizeof(struct xbond_afxdp) == 65 * sizeof(struct xbond_counters), "AF_XDP ABI");

/* Writer: BPF, one copy for all CPUs: the state of round-robin. Other modes do not touch it. */
struct xbond_cursor {
	__u64 turn; /* packets so far */
	__u32 slot; /* whose turn it is by bytes */
	__u32 pad0;
	__u64 until; /* its turn ends when sent[slot] reaches this */
	__u64 pad1[5];
	__u64 sent[XBOND_MAX_SLAVES]; /* bytes times table.byte_cost */
};
_Static_assert(sizeof(struct xbond_cursor) == 64 + 512, "cursor ABI");

#define XBOND_VLANS 4096

/*
 * Writer: BPF. In active-backup: where the network was last told that the bond is (bpf/tx.h). And
 * who bondd was (bpf/xbond.bpf.c).
 */
struct xbond_told {
	__u32 away;		 /* how often bondd was there; its lowest 24 bits count */
	__u32 bondd;		 /* the process of the last beat, as the kernel numbers it */
	__u32 vlan[XBOND_VLANS]; /* away << 8 | the slot that this VLAN was told; 0: nothing yet */
};
_Static_assert(sizeof(struct xbond_told) == 8 + 4 * 4096, "told ABI");

/* Why packets are not sent, not received or not read. */

/* common/readings.c has names and words for them. */
enum xbond_drop {
	/* To send: */
	XBOND_DROP_NO_SLAVE = 0, /* of the bond, not of a slave: none may transmit */
	XBOND_DROP_NO_COPY = 1,	 /* a copy could not be made, or its device refused it */
	/* Received: */
	XBOND_DROP_INACTIVE = 2,   /* the slave may not collect */
	XBOND_DROP_NO_CARRIER = 3, /* the bond has no carrier */
	/* Control packets: */
	XBOND_DROP_LACP_REFUSED = 4, /* nobody could take them while bondd was away */
	XBOND_DROP_LACP_QUEUE = 5,   /* the ring buffer was full */
	XBOND_DROP_BFD_REFUSED = 6,  /* the far end would not send them so */
	XBOND_DROP_BFD_QUEUE = 7,    /* the ring buffer was full */
	/* More than their budget. The budgets count these, not struct xbond_drops. */
	XBOND_DROP_LACP_FLOOD = 8,
	XBOND_DROP_LACP_STRANGERS = 9,
	XBOND_DROP_MARKER_FLOOD = 10,
	XBOND_DROP_BFD_FLOOD = 11,
	XBOND_DROP_BFD_STRANGERS = 12,
	XBOND_DROPS = 13,
};

/* The entry for what belongs to no slave. */
#define XBOND_DROPS_OF_BOND XBOND_MAX_SLAVES

/*
 * Writer: BPF, one copy per CPU and slot; bondd clears a slot that gets another device. By enum
 * xbond_drop.
 */
struct xbond_drops {
	__u64 packets[16];
};
_Static_assert(sizeof(struct xbond_drops) == 128, "drops ABI");
_Static_assert(XBOND_DROPS <= 16, "room for all reasons");

/* Steering by load: what is counted, and what moves. */

/*
 * What one bucket has sent by one CPU, while XBOND_F_LOADS is set. Readers take differences.
 * Writer: BPF.
 */
struct xbond_load {
	__u64 bytes;
	__u32 packets;
	__u32 last; /* when the last packet was sent: CLOCK_MONOTONIC by XBOND_LOAD_TICK_SHIFT */
};
_Static_assert(sizeof(struct xbond_load) == 16, "load ABI");

#define XBOND_LOAD_TICK_SHIFT 20 /* a tick is 2^20 ns, which is 1.05 ms */

/*
 * Buckets that are about to have another owner. A bucket changes in mid-traffic at its first packet
 * after a gap of gap_ns, so nothing overtakes what was sent before. bondd then writes the new owner
 * into the buckets, and ends the move.
 */
struct xbond_moves {
	/* Writer: bondd, which writes `to` last when a move begins, and first when it ends. */
	__u8 to[XBOND_BUCKETS]; /* the new owner's slot plus 1; 0: the bucket does not move */
	__u8 from[XBOND_BUCKETS];
	/* The bucket that moves the other way when this one has moved; XBOND_BUCKETS: none. */
	__u16 partner[XBOND_BUCKETS];
	/* Writer: BPF; bondd only before a move begins, and `moved` when it ends. */
	__u8 moved[XBOND_BUCKETS]; /* the gap has been seen, or is not waited for any longer */
	__u64 seen_ns[XBOND_BUCKETS];
	/* Writer: bondd. */
	__u64 gap_ns;
	/* For `show`; since the bond was made. */
	__u64 rounds;	/* intervals at whose end buckets began to move */
	__u64 finished; /* buckets that have moved */
	__u64 given_up; /* that had no gap, and stayed */
	__u64 round_ns; /* when the last one was */
	__u64 pad0[3];
};
_Static_assert(sizeof(struct xbond_moves) == 13 * XBOND_BUCKETS + 64, "moves ABI");

#define XBOND_FLOWLETS 8192 /* flows that are told apart */
#define XBOND_FLOWLET_SLOT (XBOND_MAX_SLAVES - 1ULL)

/* While XBOND_F_FLOWLETS is set: where each flow goes until its next gap. */
struct xbond_flowlets {
	/* Writer: bondd. The slots that may get flows after a gap; 0: all that may transmit. */
	__u64 slots;
	__u64 pad0[7];
	/*
	 * Writer: BPF. The slot is in the bits of XBOND_FLOWLET_SLOT; the others are those of when
	 * the flow sent. 0: a flow that was never seen.
	 */
	__u64 flow[XBOND_FLOWLETS];
};
_Static_assert(sizeof(struct xbond_flowlets) == 64 + 8 * XBOND_FLOWLETS, "flowlets ABI");

/* What one CPU has sent of late, halved every XBOND_RECENT_NS. Writer: BPF. */
struct xbond_recent {
	__u64 since_ns;
	__u64 sent[XBOND_MAX_SLAVES]; /* bytes by table.byte_cost */
};
_Static_assert(sizeof(struct xbond_recent) == 8 + 8 * XBOND_MAX_SLAVES, "recent ABI");

#define XBOND_RECENT_NS (1ULL << 25) /* 34 ms */

/*
 * balance-tlb and balance-alb: which slave has which address, where bond0 sends, and which
 * neighbours send to which slave.
 */

/*
 * Writer: bondd. MAC addresses are the first six bytes of a word, in the order of the wire, so that
 * one load finds a whole one. 0: none.
 */
struct xbond_alb {
	__u64 bond_mac; /* in all modes */
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

/* Writer: bondd. While XBOND_F_OWN_VLANS is set. */
struct xbond_own_vlans {
	/* By 802.1Q VLAN: the slots whose device has a VLAN device for it and gets its frames. */
	__u64 slots[XBOND_VLANS];
};
_Static_assert(sizeof(struct xbond_own_vlans) == 8 * 4096, "own VLANs ABI");

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
