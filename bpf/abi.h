/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The map ABI of xbond: the one header that BPF programs and user space share. Here are the
 * pins, the options, and what bondd remembers of a bond and its slaves. The other parts are
 * abi_packet.h, by which the programs decide and in which they count, abi_control.h, for the link
 * monitors and LACP, and abi_policy.h. Every bond has a directory of pins, BPF_DIR/BOND/, with one
 * file for each map, named as the XBOND_PIN_ macros say. Each struct names its one writer;
 * everybody else only reads. A change of any size or meaning here raises XBOND_ABI_VERSION and adds
 * a step to daemon/dataplane/migrate.c. A new map needs no step.
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
#define XBOND_PIN_OWN_VLANS "own_vlans"
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
#define XBOND_PIN_AFXDP "afxdp"
/* Programs: */
#define XBOND_PIN_PROG_EGRESS "prog_egress"
#define XBOND_PIN_PROG_PORT "prog_port"
#define XBOND_PIN_PROG_RX "prog_rx"
#define XBOND_PIN_PROG_BEAT "prog_beat"
/* Absent while a bond has the programs of a build that does not have them. */
#define XBOND_PIN_PROG_LOOK "prog_look"
#define XBOND_PIN_PROG_EXIT "prog_exit"
#define XBOND_PIN_PROG_POLICY_TRY "prog_policy_try"
/* Devmaps of XDP programs, the bond's own and those of others (xbond/select.bpf.h): */
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

#include "bpf/abi_policy.h"

/* The values of options, as the maps have them. */

/* The kernel's numbers. */
enum xbond_mode {
	XBOND_MODE_BALANCE_RR = 0,
	XBOND_MODE_ACTIVE_BACKUP = 1,
	XBOND_MODE_BALANCE_XOR = 2,
	XBOND_MODE_BROADCAST = 3,
	XBOND_MODE_8023AD = 4,
	XBOND_MODE_BALANCE_TLB = 5,
	XBOND_MODE_BALANCE_ALB = 6,
};

/* How the programs choose the slave for a packet. common/mode.c says which mode chooses how. */
enum xbond_selection {
	XBOND_SELECT_TURNS = 0,	 /* by the round-robin cursor */
	XBOND_SELECT_ACTIVE = 1, /* the active slave */
	XBOND_SELECT_HASH = 2,	 /* by the packet's hash */
	XBOND_SELECT_ALL = 3,	 /* every slave gets a copy; also with any other number */
};

/* The kernel's numbers; xbond's own begin at 16. */
enum xbond_policy {
	XBOND_POLICY_LAYER2 = 0,
	XBOND_POLICY_LAYER34 = 1,
	XBOND_POLICY_LAYER23 = 2,
	XBOND_POLICY_ENCAP23 = 3,
	XBOND_POLICY_ENCAP34 = 4,
	XBOND_POLICY_VLAN_SRCMAC = 5,
	XBOND_POLICY_FLOW = 16, /* the kernel's own hash of the flow */
};

enum xbond_path {
	XBOND_PATH_COUNTED = 0,
	XBOND_PATH_DIRECT = 1,
};

/* How 802.3ad chooses among the distributing ports. */
enum xbond_lacp_tx {
	XBOND_LACP_TX_HASH = 0,
	XBOND_LACP_TX_BALANCE_RR = 1,
};

/* When the primary, or a slave of higher prio, becomes active again. The kernel's numbers. */
enum xbond_reselect {
	XBOND_RESELECT_ALWAYS = 0,
	XBOND_RESELECT_BETTER = 1,
	XBOND_RESELECT_FAILURE = 2,
};

/* Which MAC addresses bond0 and its slaves have in active-backup. The kernel's numbers. */
enum xbond_fail_over_mac {
	XBOND_FAIL_OVER_MAC_NONE = 0,	/* all have bond0's */
	XBOND_FAIL_OVER_MAC_ACTIVE = 1, /* slaves keep theirs, bond0 has the active slave's */
	XBOND_FAIL_OVER_MAC_FOLLOW = 2, /* only the active slave has bond0's */
};

/* The kernel's numbers. */
enum xbond_arp_validate {
	XBOND_ARP_VALIDATE_NONE = 0,
	XBOND_ARP_VALIDATE_ACTIVE = 1,
	XBOND_ARP_VALIDATE_BACKUP = 2,
	XBOND_ARP_VALIDATE_ALL = 3,
	XBOND_ARP_VALIDATE_FILTER = 4,
	XBOND_ARP_VALIDATE_FILTER_ACTIVE = 5,
	XBOND_ARP_VALIDATE_FILTER_BACKUP = 6,
};

enum xbond_mac_policy {
	XBOND_MAC_SET = 0,
	XBOND_MAC_FILTER = 1,
};

/* The hook at which slaves receive. The option may be AUTO; the state of a slave is TC or XDP. */
enum xbond_rx_hook {
	XBOND_RX_TC = 0,
	XBOND_RX_XDP = 1,
	XBOND_RX_AUTO = 2, /* XDP where the driver has it */
};

/* What bond0 is. */
enum xbond_device {
	/*
	 * Only as the value of the option: a team where the kernel has one and no option is against
	 * it, otherwise a pair.
	 */
	XBOND_DEVICE_AUTO = 0,
	XBOND_DEVICE_VETH = 1,
	XBOND_DEVICE_NETKIT = 2,
	/* Not an end of a pair: a team of the kernel, whose ports the slaves are. */
	XBOND_DEVICE_TEAM = 3,
	/* Likewise: netkit where the kernel has it, otherwise veth. */
	XBOND_DEVICE_PAIR = 4,
};

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

#include "bpf/abi_packet.h"

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
	__u32 pad1;
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
_Static_assert(__builtin_offsetof(struct xbond_bond, abi_version) == 4, "pins.c of any version");

/* xbond_slave_record.flags */
#define XBOND_SLAVE_WAS_UP 0x1
#define XBOND_SLAVE_WAS_PROMISC 0x2
#define XBOND_SLAVE_WAS_ALLMULTI 0x4
#define XBOND_SLAVE_HAD_CLSACT 0x8
/* bondd has put 01:80:c2:00:00:02 on its multicast list. */
#define XBOND_SLAVE_JOINED_SLOW 0x10
#define XBOND_SLAVE_HAD_VLAN_FILTER 0x20 /* rx-vlan-filter was on; bondd may have turned it off */
#define XBOND_SLAVE_HAD_VLAN_STRIP 0x40	 /* rx-vlan-hw-parse, likewise */
/* the slave is up, but may be down at the moment because bondd changes its MAC */
#define XBOND_SLAVE_MAC_CHANGES 0x80
#define XBOND_SLAVE_HAD_LRO 0x100     /* rx-lro was on, and may be off because of XDP */
#define XBOND_SLAVE_XDP_REFUSED 0x200 /* its driver is not asked again */
/* rx-lro was on; it is off because of the device that bond0 is a port of. */
#define XBOND_SLAVE_LRO_OFF 0x400
/*
 * It is known whether it had a clsact qdisc. If it had none, the one that is there belongs to
 * bondd.
 */
#define XBOND_SLAVE_CLSACT_KNOWN 0x800
/* rx-lro was on; it is off because of bondd's VLAN devices on the slave. */
#define XBOND_SLAVE_LRO_VLAN 0x1000

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
#define XBOND_TROUBLE_MASTER 0x1    /* it is a port of another device */
#define XBOND_TROUBLE_ADDRESSES 0x2 /* it has IP addresses */
#define XBOND_TROUBLE_UPPERS 0x4    /* VLANs, macvlans or the like are on it */
/* Filters of others let frames pass for good, so xbond's program goes in front of them. */
#define XBOND_TROUBLE_ENDING 0x8
/* filters of others see no frames of the bond: they come after xbond's program or XDP */
#define XBOND_TROUBLE_UNMET 0x10
/* it has nft chains at its ingress, which come after xbond's program */
#define XBOND_TROUBLE_NFT 0x20
#define XBOND_TROUBLE_PROTODOWN 0x40 /* its protodown is on, which takes its carrier */
/* it has nft chains at its egress, which what TC redirects does not meet */
#define XBOND_TROUBLE_NFT_EGRESS 0x80

/*
 * What of a slave has been seen as it was before xbond changed it. While a slot is neither free nor
 * a member, bondd tries to restore the others.
 */
#define XBOND_RESTORED_STATE 0x1
#define XBOND_RESTORED_DOWN 0x2
#define XBOND_RESTORED_IPV6 0x4
#define XBOND_RESTORED_MTU 0x8
#define XBOND_RESTORED_SLOW 0x10 /* the group of the slow protocols */
#define XBOND_RESTORED_GROUPS 0x20
#define XBOND_RESTORED_FLAGS 0x40 /* promiscuity and allmulti */
#define XBOND_RESTORED_MAC 0x80
#define XBOND_RESTORED_LRO 0x100
#define XBOND_RESTORED_VLAN_FILTER 0x200
#define XBOND_RESTORED_INGRESS 0x400
#define XBOND_RESTORED_MASTER 0x1000
#define XBOND_RESTORED_XDP 0x2000

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
	__u32 trouble;	/* XBOND_TROUBLE_* */
	__s32 prio;	/* active-backup prefers the slave with the highest */
	__u32 restored; /* XBOND_RESTORED_*: while it is given back */
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
#define XBOND_ATTACHED_PORT 0x1
#define XBOND_ATTACHED_EGRESS 0x2

/* Writer: bondd. Attached programs that somebody has removed. */
struct xbond_attached {
	/* Slots whose receive program is not attached and cannot be attached at present. */
	__u64 missing;
	__u32 missing_bond;		  /* XBOND_ATTACHED_*: the same for the pair */
	__u32 detached_bond;		  /* how often programs of the pair were found missing */
	__u32 detached[XBOND_MAX_SLAVES]; /* the same for the receive program of each slot */
};
_Static_assert(sizeof(struct xbond_attached) == 16 + 256, "attached ABI");

#include "bpf/abi_control.h"

#endif
