/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map ABI of xbond: the one header that BPF programs and user space share. abi_options.h,
 * abi_load.h, abi_drops.h and abi_monitors.h are parts of it. Every bond has a directory of pins,
 * BPF_DIR/BOND/, with one file for each map, named as the XBOND_PIN_ macros say. Each struct names
 * its one writer; everybody else only reads. A change of any size or meaning here raises
 * XBOND_ABI_VERSION and adds a step to daemon/dataplane/migrate.c. A new map needs no step.
 */
#ifndef XBOND_ABI_H
#define XBOND_ABI_H

#include <linux/types.h>

/* Plain structs: the state of BFD sessions and of the LACP machines is pinned, too. */
#include "bfd/bfd_wire.h"
#include "lacp/state.h"

#define XBOND_ABI_MAGIC 0x78626e64 /* "xbnd" */
#define XBOND_ABI_VERSION 9

#define XBOND_MAX_SLAVES 64
#define XBOND_BUCKETS 4096
#define XBOND_SLOT_CACHE 1024
#define XBOND_NAME_SIZE 16 /* IFNAMSIZ */
#define XBOND_MAC_SIZE 6
#define XBOND_NO_SLOT 0xff

/* Pins below BPF_DIR/BOND/. Maps: */
#define XBOND_PIN_SETTINGS "settings"
#define XBOND_PIN_TABLE "table"
#define XBOND_PIN_BUCKETS "buckets"
#define XBOND_PIN_BOND "bond"
#define XBOND_PIN_SLAVES "slaves"
#define XBOND_PIN_COUNTERS "counters"
#define XBOND_PIN_CURSOR "cursor"
#define XBOND_PIN_HOLD "hold"
#define XBOND_PIN_HOLD_TIMERS "hold_timers"
#define XBOND_PIN_WATCHDOG "watchdog"
#define XBOND_PIN_PDUS "pdus"
#define XBOND_PIN_LACP "lacp"
/* Maps that a bond of an earlier build lacks until a bondd of this build has adopted the bond: */
#define XBOND_PIN_ATTACHED "attached"
#define XBOND_PIN_BFD "bfd"
#define XBOND_PIN_BFD_PACKETS "bfd_packets"
#define XBOND_PIN_BFD_TIMERS "bfd_timers"
#define XBOND_PIN_MONITORS "monitors"
#define XBOND_PIN_FAILOVER "failover"
#define XBOND_PIN_WAKE "wake"
#define XBOND_PIN_DOUBT "doubt"
#define XBOND_PIN_LOSSES "losses"
#define XBOND_PIN_DEVICES "devices"
#define XBOND_PIN_TOLD "told"
#define XBOND_PIN_PROBES "probes"
#define XBOND_PIN_QUALITY "quality"
#define XBOND_PIN_ALB "alb"
#define XBOND_PIN_VLANS "vlans"
#define XBOND_PIN_CLIENTS "clients"
#define XBOND_PIN_RECEIVERS "receivers"
/* The policy of the user (bpf/policy_ask.h): its programs, and what it is asked. */
#define XBOND_PIN_POLICY "policy"
#define XBOND_PIN_POLICY_XDP "policy_xdp"
#define XBOND_PIN_POLICY_QUESTION "policy_question"
#define XBOND_PIN_LOADS "loads"
#define XBOND_PIN_MOVES "moves"
#define XBOND_PIN_FLOWLETS "flowlets"
#define XBOND_PIN_RECENT "recent"
#define XBOND_PIN_DROPS "drops"
/* Programs: */
#define XBOND_PIN_PROG_EGRESS "prog_egress"
#define XBOND_PIN_PROG_PORT "prog_port"
#define XBOND_PIN_PROG_RX "prog_rx"
#define XBOND_PIN_PROG_RX_MIRRED "prog_rx_mirred"
#define XBOND_PIN_PROG_BEAT "prog_beat"
/* Absent while a bond has the programs of a build that does not have them. */
#define XBOND_PIN_PROG_LOOK "prog_look"
#define XBOND_PIN_PROG_EXIT "prog_exit"
#define XBOND_PIN_PROG_POLICY_TRY "prog_policy_try"
/* Devmaps of XDP programs, the bond's own and those of others (library/select.bpf.h): */
#define XBOND_PIN_XDP_SLAVES "xdp_slaves"
#define XBOND_PIN_XDP_ALL "xdp_all"
/*
 * Multicast groups that slaves have joined for bond0, and MAC addresses of devices on it that are
 * on their lists: a hash with struct xbond_group as its key. Absent if an older bondd has made the
 * bond:
 */
#define XBOND_PIN_GROUPS "groups"
/* Prefixes of the names of links: */
#define XBOND_PIN_LINKS "link_"
/* XDP links, where they are attached; the link of a slave ends in its slot's number: */
#define XBOND_PIN_LINK_XDP_TX "link_xdp_tx"
#define XBOND_PIN_LINK_XDP_RX "link_xdp_rx_"
/*
 * TCX and netkit links (absent with clsact); the link of a slave is XBOND_PIN_LINK_RX and its slot:
 * link_rx_3
 */
#define XBOND_PIN_LINK_EGRESS "link_egress"
#define XBOND_PIN_LINK_PORT "link_port"
#define XBOND_PIN_LINK_RX "link_rx_"
/* A map that the policy of the user has; its name follows. */
#define XBOND_PIN_POLICY_MAPS "policy_map_"
#define XBOND_PIN_NEW "_new" /* suffix of a link that is about to replace another */

#include "bpf/abi_drops.h"
#include "bpf/abi_load.h"
#include "bpf/abi_options.h"
#include "bpf/abi_policy.h"

enum xbond_hook {
	XBOND_HOOK_TCX = 0,
	XBOND_HOOK_CLSACT = 1,
	XBOND_HOOK_NETKIT = 2, /* bond0's transmit function, of a netkit only */
};

/*
 * The life of a bond. If bondd dies in between, the next bondd sees from this what to finish or
 * undo.
 */
enum xbond_bond_state {
	XBOND_BOND_CREATING = 0,
	XBOND_BOND_READY = 1,
	XBOND_BOND_DELETING = 2,
};

/* Life of a slot, for the same reason. */
enum xbond_slot_state {
	XBOND_SLOT_FREE = 0,
	XBOND_SLOT_ENSLAVING = 1, /* recorded; changes may have begun */
	XBOND_SLOT_MEMBER = 2,
	XBOND_SLOT_RELEASING = 3, /* out of the datapath; restoring has begun */
};

enum xbond_link {
	XBOND_LINK_DOWN = 0,
	XBOND_LINK_UP = 1,
	XBOND_LINK_GOING_UP = 2,   /* carrier is back, updelay runs */
	XBOND_LINK_GOING_DOWN = 3, /* carrier is gone, downdelay runs */
};

/*
 * Writer: bondctl. bondd writes only at create, and into a slot's fields before the slot is a
 * member.
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

#define XBOND_F_FORCE_COUNTED 1 /* `direct` is forbidden now: bypass.c says why */
#define XBOND_F_CARRIER 2	/* the bond has carrier */
/* Packets of the stack go direct, whatever settings.path says, because XDP chooses on the pair. */
#define XBOND_F_STACK_DIRECT 16
#define XBOND_F_XDP_TX 32	/* the XDP program of the port side chooses, else it passes */
#define XBOND_F_DRAIN_MARKERS 8 /* a drain begins when the partner has answered a marker */
/* bond0 is in another namespace, so packets can reach it without the CPU's backlog. */
#define XBOND_F_REDIRECT_PEER 128
#define XBOND_F_QUEUE_IDS 64 /* some slave has a queue_id */
#define XBOND_F_NETKIT 256   /* bond0 is a netkit: only a queue_id is in tc_index */
#define XBOND_F_OPENING 512  /* 802.3ad: ports collect, and the pair's port side is not up yet */
#define XBOND_F_PROBES 1024  /* the ARP monitor is on: the programs write down what slaves hear */
#define XBOND_F_BFD 2048     /* slaves may get packets of micro-BFD */
#define XBOND_F_TLB 32768    /* slaves have addresses of their own (bpf/tlb.h) */
#define XBOND_F_ALB 65536    /* also: slaves that are not active receive (bpf/send_tlb.h) */
/* More than the bucket's owner decides (bpf/steered.h): one test for what follows. */
#define XBOND_F_STEERED (XBOND_F_LOADS | XBOND_F_FLOWLETS)
#define XBOND_F_LOADS 4096    /* what each bucket sends is counted */
#define XBOND_F_FLOWLETS 8192 /* a flow may change its slave after a gap */
#define XBOND_F_POLICY 16384  /* the programs are those that ask a policy (bpf/policy_ask.h) */
#define XBOND_F_TEAM 131072   /* bond0 is a team: see bpf/team_path.h */
/* The team sends by the slot that a packet's hash names (network/bonding.h). */
#define XBOND_F_TEAM_SENDS 524288
/* A takeover or handback goes on, which would lose what bondctl writes into the settings. */
#define XBOND_F_HANDED_OVER 262144
#define XBOND_F_BROADCAST_NEIGHBOR 4 /* ARP and IPv6 neighbour discovery leave by every slave */

/*
 * What library/select.bpf.h promises to programs of others. It is raised when one of these maps
 * changes its size, or a program that was compiled before would choose other slaves than the bond:
 * settings, table, buckets, cursor, counters, wake, doubt, losses, loads, moves, flowlets, recent,
 * alb, vlans, devices, xdp_slaves, xdp_all.
 */
#define XBOND_SELECT_ABI 1

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
	 * if others were left. Writer: BPF; bondd clears it when it decides. See failed.h.
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

#define XBOND_PDU_SIZE 124 /* LACPDU and marker PDU with Ethernet header (802.1AX-2020 6.4.2.3) */
/* How many PDUs of one slave bondd gets in a second. Each class of PDUs has a budget of its own. */
/* LACPDUs of the partner, and of others; LACP itself sends at most 3. */
#define XBOND_PDUS_PER_SECOND 10
#define XBOND_MARKERS_PER_SECOND 5	  /* as many as the core answers */
#define XBOND_OTHERS_PER_SECOND 5	  /* other slow protocols; bondd only counts them */
#define XBOND_LACP_AWAY_NS 500000000LL	  /* heartbeat older: the programs hold the ports */
#define XBOND_HOLD_GAP_NS 900000000ULL	  /* at most one answer in this time */
#define XBOND_HOLD_AFTER_NS 1000000000ULL /* after bondd's last, which may be its third */
_Static_assert(XBOND_HOLD_GAP_NS == LACP_HOLD_GAP, "the core counts by it");

/* Who asks for the short timeout. A partner that does not know of it may send every 30 s. */
#define XBOND_HOLD_KNOWS 1 /* the partner's last LACPDU says that we do */
#define XBOND_HOLD_ASKS 2  /* our last answer did, because the partner does */

enum xbond_hold_end {
	XBOND_HOLD_GOES_ON = 0,
	/* No LACPDU in the time in force; goes on when the partner is heard in sync. */
	XBOND_HOLD_SILENT = 1,
	XBOND_HOLD_OUT_OF_STEP = 2,	/* the partner is not in sync; goes on when it is */
	XBOND_HOLD_PARTNER_CHANGED = 3, /* another partner */
};

/* Classes of PDUs. One class cannot use up the budget of another. */
enum xbond_pdu_class {
	XBOND_PDU_PARTNER = 0,	/* LACPDUs of the system and port that are our partner */
	XBOND_PDU_STRANGER = 1, /* other LACPDUs */
	XBOND_PDU_MARKER = 2,
	/* other slow protocols: never dropped; bondd does not see the excess */
	XBOND_PDU_OTHER = 3,
	XBOND_PDU_CLASSES = 4,
};

/* Writer: BPF. */
struct xbond_pdu_budget {
	__u64 window_ns; /* when this second began */
	__u32 count;	 /* PDUs in it */
	__u32 flooded;	 /* PDUs dropped beyond the budget, ever */
};
_Static_assert(sizeof(struct xbond_pdu_budget) == 16, "PDU budget ABI");

/*
 * What the programs need to hold a port. Writer: bondd's LACP thread, after each run of the
 * machines.
 */
struct xbond_hold_words {
	__u64 silence_ns; /* 3 s or 90 s: the timeout that pdu asks for */
	__u64 heard_ns;	  /* the last LACPDU of the partner */
	__u64 sent_ns;	  /* when pdu was sent; 0: never */
	__u32 holding;	  /* current, lacp_hold on, and pdu is valid: the programs answer */
	/* The Receive machine is CURRENT: what the partner says, or its silence, decides. */
	__u32 current;
	/* LACP_COLLECTING and LACP_DISTRIBUTING: what the core lets the port do. */
	__u32 told;
	__u32 independent; /* independent control: distributes only while the partner collects */
	/* The partner's 15 bytes of an information TLV. Of its state only AGG is used. */
	__u8 partner[16];
	__u8 pdu[XBOND_PDU_SIZE];      /* the last LACPDU sent, with Ethernet header */
	__u8 believed[XBOND_MAC_SIZE]; /* the only system accepted as a partner; zero: any */
	__u8 pad0[6];
};
_Static_assert(sizeof(struct xbond_hold_words) == 192, "hold words ABI");

/* One per slot: how the programs keep a port of an 802.3ad bond while bondd is away. */
struct xbond_hold {
	/*
	 * Writer: bondd. It writes a change completely into the idle copy; one store then puts that
	 * copy in force.
	 */
	__u32 enabled;	/* the slot is a port */
	__u32 in_force; /* which copy of words: 0 or 1 */
	struct xbond_hold_words words[2];
	/* Writer: BPF, while bondd is away; bondd resets all but the answers when it takes over. */
	__u64 heard_ns; /* the last LACPDU of the partner */
	__u64 answered_ns;
	__u32 ended; /* enum xbond_hold_end */
	/* LACP_COLLECTING and LACP_DISTRIBUTING: what the port may not do at present. */
	__u32 withheld;
	__u32 hurried; /* XBOND_HOLD_KNOWS, also while bondd is there, and XBOND_HOLD_ASKS */
	__u32 answers;
	/* Writer: BPF. */
	__u64 missed_ns; /* the last LACPDU that came while bondd was away and that nobody kept */
	struct xbond_pdu_budget budget[XBOND_PDU_CLASSES];
};
_Static_assert(sizeof(struct xbond_hold) == 8 + 2 * 192 + 16 + 16 + 8 + 64, "hold ABI");

/* Writer: BPF, into the ring buffer. */
struct xbond_pdu {
	__u64 received_ns;
	__u32 slot;
	__u32 ifindex;
	__u32 length;
	__u32 pad0;
	__u8 frame[128]; /* length bytes of it */
};
_Static_assert(sizeof(struct xbond_pdu) == 152, "pdu ABI");

/* Writer: BPF, one copy per CPU and slot. A GSO packet is one packet; bytes are skb->len. */
struct xbond_counters {
	__u64 tx_packets;
	__u64 tx_bytes;
	__u64 rx_packets;
	__u64 rx_bytes;
	__u64 rx_dropped; /* slave may not collect, or the bond has no carrier */
};
_Static_assert(sizeof(struct xbond_counters) == 40, "counters ABI");

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
 * Writer: BPF. In active-backup: where the network was last told that the bond is (bpf/rarp.h). And
 * who bondd was (bpf/watchdog.h).
 */
struct xbond_told {
	__u32 away;		 /* how often bondd was there; its lowest 24 bits count */
	__u32 bondd;		 /* the process of the last beat, as the kernel numbers it */
	__u32 vlan[XBOND_VLANS]; /* away << 8 | the slot that this VLAN was told; 0: nothing yet */
};
_Static_assert(sizeof(struct xbond_told) == 8 + 4 * 4096, "told ABI");

#define XBOND_MAX_TARGETS 16 /* of each address family, as kernel bonding has it */

struct xbond_address {
	__u32 family; /* AF_INET, AF_INET6; 0: none */
	/* In network byte order; an IPv4 address is in the first four. */
	__u8 bytes[16];
};
_Static_assert(sizeof(struct xbond_address) == 20, "address ABI");

/* Writer: bondd. Identity and options of the bond. BPF does not read them. */
struct xbond_bond {
	__u32 magic;
	__u32 abi_version;
	__u32 state;	    /* enum xbond_bond_state */
	__u32 hook;	    /* enum xbond_hook */
	__u32 ifindex;	    /* of bond0, in the namespace it is in */
	__u32 port_ifindex; /* of the port side */
	__s32 netnsid;	    /* of bond0's namespace seen from bondd's; -1: the same */
	__u32 mtu;
	char name[XBOND_NAME_SIZE];
	char port_name[XBOND_NAME_SIZE];
	__u8 mac[XBOND_MAC_SIZE];
	/*
	 * The address that bond0 got at create. If its address differs, it came from the user or a
	 * slave.
	 */
	__u8 random_mac[XBOND_MAC_SIZE];
	__u32 carrier;
	__u32 mode; /* enum xbond_mode */
	__u32 all_slaves_active;
	__u32 min_links;
	__u32 miimon_ms;
	__u32 updelay_ms;
	__u32 downdelay_ms;
	__u32 mac_policy; /* enum xbond_mac_policy */
	__u32 hash_seed;
	char primary[XBOND_NAME_SIZE]; /* "": none */
	__u32 active_slot;	       /* active-backup: the slave in use, or XBOND_NO_SLOT */
	/* 802.3ad: */
	__u32 lacp_rate; /* 0 slow, 1 fast */
	__u32 lacp_active;
	__u32 ad_select; /* enum lacp_ad_select */
	__u32 ad_actor_sys_prio;
	__u32 ad_user_port_key;
	__u32 coupled_control;
	__u32 broadcast_neighbor;
	__u32 lacp_strict;
	__u32 lacp_fallback; /* enum lacp_fallback */
	__u32 lacp_fallback_delay_ms;
	__u32 lacp_tx; /* enum xbond_lacp_tx */
	__u32 drain_markers;
	__u32 lacp_hold;
	__u32 max_links;
	__u8 ad_actor_system[XBOND_MAC_SIZE]; /* zero: the bond's MAC */
	__u8 pad0[1];
	__u8 announce_due; /* a failover that is in force has not been announced yet */
	__u32 rx_hook;	   /* enum xbond_rx_hook */
	__u32 xdp_tx;
	/* Of bond0, which needs GRO while a slave receives by XDP. */
	__u32 gro_was_off;
	struct xbond_counters retired; /* sums of slaves that left */
	__u32 device;		       /* enum xbond_device: as asked for */
	__u32 device_kind;	       /* enum xbond_device: as made */
	__u32 rx_backlog;	       /* 0: slaves hand packets to bond0 by act_mirred */
	__u32 lacp_revert;
	__u32 lacp_wtr_s;
	__u32 min_links_lacp;
	/* The only system accepted as a partner; zero: any. */
	__u8 lacp_partner[XBOND_MAC_SIZE];
	/* Active-backup: the user has chosen the active slave; see rules/active.h. */
	__u8 active_by_hand;
	__u8 primary_due; /* the primary was named or enslaved, and has not been up since */
	/* Failover: */
	__u32 primary_reselect; /* enum xbond_reselect */
	__u32 fail_over_mac;	/* enum xbond_fail_over_mac */
	__u32 num_peer_notif;
	__u32 peer_notif_delay_ms;
	__u32 resend_igmp;
	/* Link monitors: */
	__u32 arp_interval_ms; /* 0: off */
	__u32 arp_validate;    /* enum xbond_arp_validate */
	__u32 arp_all_targets; /* 0 any, 1 all */
	__u32 arp_missed_max;
	__u32 bfd_interval_ms; /* 0: off */
	__u32 bfd_multiplier;
	__u32 flap_limit;    /* flaps a minute; 0: off */
	__u32 rx_silence_ms; /* 0: off */
	__u32 error_limit;   /* errors a million frames; 0: off */
	/* Lists end with the first address that is zero. */
	__be32 arp_ip_target[XBOND_MAX_TARGETS];
	__u8 ns_ip6_target[XBOND_MAX_TARGETS][16];
	struct xbond_address bfd_local, bfd_remote;
	/* Steering by load: */
	__u32 rebalance_interval_s; /* 0: off */
	__u32 rebalance_idle_ms;
	__u32 flowlet_gap_us; /* 0: off */
	/* balance-tlb and balance-alb: */
	__u32 tlb_dynamic_lb;
	__u32 lp_interval_s;
	__u32 team_sends; /* bond0 is a team that can send: `path counted` is possible */
};
_Static_assert(sizeof(struct xbond_bond) == 720, "bond ABI");

#define XBOND_SLAVE_WAS_UP 1
#define XBOND_SLAVE_WAS_PROMISC 2
#define XBOND_SLAVE_WAS_ALLMULTI 4
#define XBOND_SLAVE_HAD_CLSACT 8
/* bondd has put 01:80:c2:00:00:02 on its multicast list. */
#define XBOND_SLAVE_JOINED_SLOW 16
#define XBOND_SLAVE_HAD_VLAN_FILTER 32 /* rx-vlan-filter was on; bondd may have turned it off */
#define XBOND_SLAVE_HAD_VLAN_STRIP 64  /* rx-vlan-hw-parse, likewise */
/* the slave is up, but may be down at the moment because bondd changes its MAC */
#define XBOND_SLAVE_MAC_CHANGES 128
#define XBOND_SLAVE_HAD_LRO 256	    /* rx-lro was on, and may be off because of XDP */
#define XBOND_SLAVE_XDP_REFUSED 512 /* its driver is not asked again */
/* rx-lro was on; it is off because of the device that bond0 is a port of. */
#define XBOND_SLAVE_LRO_OFF 1024
/* rx-lro was on; it is off because of bondd's VLAN devices on the slave. */
#define XBOND_SLAVE_LRO_VLAN 4096
/*
 * It is known whether it had a clsact qdisc. If it had none, the one that is there belongs to
 * bondd.
 */
#define XBOND_SLAVE_CLSACT_KNOWN 2048

/* What a slave was before xbond changed it: recorded before the change, restored on release. */
struct xbond_slave_record {
	__u32 flags; /* XBOND_SLAVE_* */
	__u32 mtu;
	__s32 disable_ipv6; /* -1: the kernel has no IPv6 */
	__u8 mac[XBOND_MAC_SIZE];
	__u8 pad0[2];
};
_Static_assert(sizeof(struct xbond_slave_record) == 20, "slave record ABI");

/*
 * What others have done to a slave although add-slave would have refused it; only what still holds.
 */
#define XBOND_TROUBLE_MASTER 1	  /* it is a port of another device */
#define XBOND_TROUBLE_ADDRESSES 2 /* it has IP addresses */
#define XBOND_TROUBLE_UPPERS 4	  /* VLANs, macvlans or the like are on it */
/* Filters of others let frames pass for good, so xbond's program goes in front of them. */
#define XBOND_TROUBLE_ENDING 8
/* filters of others see no frames of the bond: they come after xbond's program or XDP */
#define XBOND_TROUBLE_UNMET 16
/* it has nft chains at its ingress, which come after xbond's program */
#define XBOND_TROUBLE_NFT 32
#define XBOND_TROUBLE_PROTODOWN 64 /* its protodown is on, which takes its carrier */

/* Writer: bondd. One entry per slot. */
struct xbond_slave {
	__u32 state; /* enum xbond_slot_state */
	__u32 ifindex;
	char name[XBOND_NAME_SIZE];
	__u32 link;	  /* enum xbond_link */
	__u32 speed_mbps; /* 0: unknown */
	__u32 duplex;	  /* ethtool: 0 half, 1 full, 255 unknown */
	__u32 link_failures;
	__u8 mac[XBOND_MAC_SIZE];
	__u8 perm_mac[XBOND_MAC_SIZE];
	__u32 actor_port_prio;
	__u8 filter_mac[XBOND_MAC_SIZE]; /* what bondd has put on its unicast list; zero: nothing */
	__u16 resets; /* losses of carrier caused by a change of bondd; not in link_failures */
	struct xbond_slave_record before;
	/*
	 * The kernel's count as last seen: tells whether carrier was lost while no bondd watched.
	 */
	__u32 carrier_changes;
	__u32 rx_hook;	/* enum xbond_rx_hook: what is attached */
	__u32 queue_id; /* 0: none */
	/* The receive program is a clsact filter, whatever bond.hook says. */
	__u32 clsact;
	__u32 trouble; /* XBOND_TROUBLE_* */
	__s32 prio;    /* active-backup prefers the slave with the highest */
	__u32 pad0;
};
_Static_assert(sizeof(struct xbond_slave) % 8 == 0, "entries of an array map are multiples of 8");
_Static_assert(sizeof(struct xbond_slave) == 112, "slave ABI");

#define XBOND_MAX_GROUPS 4096

/*
 * Writer: bondd. The key of the map of groups. A value is a __u64: the slots whose devices bondd
 * has made join.
 */
struct xbond_group {
	__u8 mac[XBOND_MAC_SIZE];
	__u8 pad0[2];
};
_Static_assert(sizeof(struct xbond_group) == 8, "group ABI");

/* Programs of bond0's pair, as bits in xbond_attached. */
#define XBOND_ATTACHED_PORT 1
#define XBOND_ATTACHED_EGRESS 2

/* Writer: bondd. Attached programs that somebody has removed. */
struct xbond_attached {
	/* Slots whose receive program is not attached and cannot be attached at present. */
	__u64 missing;
	__u32 missing_bond;		  /* XBOND_ATTACHED_*: the same for the pair */
	__u32 detached_bond;		  /* how often programs of the pair were found missing */
	__u32 detached[XBOND_MAX_SLAVES]; /* the same for the receive program of each slot */
};
_Static_assert(sizeof(struct xbond_attached) == 16 + 256, "attached ABI");

#include "bpf/abi_alb.h"
#include "bpf/abi_monitors.h"

/*
 * Writer: bondd's LACP thread. There are two copies, so that one is complete whenever bondd dies.
 */
struct xbond_lacp {
	__u32 current; /* the copy in force */
	__u32 pad0;
	struct {
		struct lacp_system_state system;
		struct lacp_port_state port[XBOND_MAX_SLAVES];
	} copy[2];
};
_Static_assert(sizeof(struct xbond_lacp) == 8 + 2 * (sizeof(struct lacp_system_state) +
						     64 * sizeof(struct lacp_port_state)),
	       "lacp ABI");

#endif
