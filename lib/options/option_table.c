/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option table. A row says once what an option is: its allowed values are put into words from
 * type, names and limits, its modes follow from a trait (common/mode.h).
 */
#include "common/mode.h"
#include "options/options.h"

static const struct option_name path_names[] = {
	{ "counted", XBOND_PATH_COUNTED },
	{ "direct", XBOND_PATH_DIRECT },
	{ NULL, 0 },
};

static const struct option_name policy_names[] = {
	{ "layer2", XBOND_POLICY_LAYER2 },    { "layer3+4", XBOND_POLICY_LAYER34 },
	{ "layer2+3", XBOND_POLICY_LAYER23 }, { "encap2+3", XBOND_POLICY_ENCAP23 },
	{ "encap3+4", XBOND_POLICY_ENCAP34 }, { "vlan+srcmac", XBOND_POLICY_VLAN_SRCMAC },
	{ "flow", XBOND_POLICY_FLOW },	      { NULL, 0 },
};

static const struct option_name arp_validate_names[] = {
	{ "none", XBOND_ARP_VALIDATE_NONE },
	{ "active", XBOND_ARP_VALIDATE_ACTIVE },
	{ "backup", XBOND_ARP_VALIDATE_BACKUP },
	{ "all", XBOND_ARP_VALIDATE_ALL },
	{ "filter", XBOND_ARP_VALIDATE_FILTER },
	{ "filter_active", XBOND_ARP_VALIDATE_FILTER_ACTIVE },
	{ "filter_backup", XBOND_ARP_VALIDATE_FILTER_BACKUP },
	{ NULL, 0 },
};

static const struct option_name arp_all_targets_names[] = {
	{ "any", 0 },
	{ "all", 1 },
	{ NULL, 0 },
};

static const struct option_name bfd_interval_names[] = {
	{ "0", 0 },
	{ NULL, 0 },
};

static const struct option_name mac_policy_names[] = {
	{ "set", XBOND_MAC_SET },
	{ "filter", XBOND_MAC_FILTER },
	{ NULL, 0 },
};

static const struct option_name reselect_names[] = {
	{ "always", XBOND_RESELECT_ALWAYS },
	{ "better", XBOND_RESELECT_BETTER },
	{ "failure", XBOND_RESELECT_FAILURE },
	{ NULL, 0 },
};

static const struct option_name fail_over_mac_names[] = {
	{ "none", XBOND_FAIL_OVER_MAC_NONE },
	{ "active", XBOND_FAIL_OVER_MAC_ACTIVE },
	{ "follow", XBOND_FAIL_OVER_MAC_FOLLOW },
	{ NULL, 0 },
};

static const struct option_name rx_hook_names[] = {
	{ "tc", XBOND_RX_TC },
	{ "xdp", XBOND_RX_XDP },
	{ "auto", XBOND_RX_AUTO },
	{ NULL, 0 },
};

static const struct option_name device_names[] = {
	{ "auto", XBOND_DEVICE_AUTO },	   { "veth", XBOND_DEVICE_VETH },
	{ "netkit", XBOND_DEVICE_NETKIT }, { "team", XBOND_DEVICE_TEAM },
	{ "pair", XBOND_DEVICE_PAIR },	   { NULL, 0 },
};

static const struct option_name lacp_rate_names[] = {
	{ "slow", 0 },
	{ "fast", 1 },
	{ NULL, 0 },
};

static const struct option_name lacp_tx_names[] = {
	{ "hash", XBOND_LACP_TX_HASH },
	{ "balance-rr", XBOND_LACP_TX_BALANCE_RR },
	{ NULL, 0 },
};

static const struct option_name lacp_fallback_names[] = {
	{ "none", LACP_FALLBACK_NONE },
	{ "one", LACP_FALLBACK_ONE },
	{ "all", LACP_FALLBACK_ALL },
	{ NULL, 0 },
};

static const struct option_name ad_select_names[] = {
	{ "stable", LACP_AD_STABLE },
	{ "bandwidth", LACP_AD_BANDWIDTH },
	{ "count", LACP_AD_COUNT },
	{ "actor_port_prio", LACP_AD_PORT_PRIO },
	{ NULL, 0 },
};

static const struct option_name weight_names[] = {
	{ "auto", 0 },
	{ NULL, 0 },
};

#define IN_SETTINGS(field) OPTION_IN_SETTINGS, offsetof(struct xbond_settings, field)
#define IN_BOND(field) OPTION_IN_BOND, offsetof(struct xbond_bond, field)
#define IN_SLAVE(field) OPTION_IN_SLAVE, offsetof(struct xbond_slave, field)
#define NOWHERE OPTION_NOWHERE, 0

#define OF_BOND(id, ...) [id] = { id, OPTION_BOND, __VA_ARGS__ }
#define OF_SLAVE(id, ...) [id] = { id, OPTION_SLAVE, __VA_ARGS__ }

#define KERNEL_INT_MAX 2147483647u

static const struct option_spec option_table[OPT_COUNT] = {
	OF_BOND(OPT_MODE, "mode", OPTION_ENUM, IN_BOND(mode), "balance-rr",
		.help = "how the bond uses its slaves"),
	OF_BOND(OPT_PATH, "path", OPTION_ENUM, IN_SETTINGS(path), "counted",
		.help = "exact counters of the device (counted), or the fastest way (direct)",
		.names = path_names),
	OF_BOND(OPT_XMIT_HASH_POLICY, "xmit_hash_policy", OPTION_ENUM,
		IN_SETTINGS(xmit_hash_policy), "layer2",
		.help = "which fields of a packet decide its slave", .names = policy_names,
		.effect = MODE_HASH),
	OF_BOND(OPT_SYMMETRIC, "symmetric", OPTION_BOOL, IN_SETTINGS(symmetric), "off",
		.help = "both directions of a flow have the same hash", .effect = MODE_HASH),
	OF_BOND(OPT_IP6_FLOW_LABEL, "ip6_flow_label", OPTION_BOOL, IN_SETTINGS(ip6_flow_label),
		"off", .help = "hash the IPv6 flow label as well, where ports are hashed",
		.effect = MODE_HASH),
	OF_BOND(OPT_PACKETS_PER_SLAVE, "packets_per_slave", OPTION_UINT,
		IN_SETTINGS(packets_per_slave), "1",
		.help = "packets before the next slave's turn; 0: a random slave for each packet",
		.max = 65535, .needs = MODE_TURNS),
	OF_BOND(OPT_BYTES_PER_SLAVE, "bytes_per_slave", OPTION_UINT, IN_SETTINGS(bytes_per_slave),
		"0",
		.help = "bytes before the next slave's turn, overrides packets_per_slave; 0: off",
		.max = KERNEL_INT_MAX, .needs = MODE_TURNS),
	OF_BOND(OPT_PRIMARY, "primary", OPTION_IFNAME, IN_BOND(primary), "none",
		.help = "the preferred slave", .needs = MODE_ACTIVE),
	OF_BOND(OPT_PRIMARY_RESELECT, "primary_reselect", OPTION_ENUM, IN_BOND(primary_reselect),
		"always",
		.help = "when a preferred slave (primary, prio) takes over from one that works",
		.names = reselect_names, .effect = MODE_ACTIVE),
	OF_BOND(OPT_ACTIVE_SLAVE, "active_slave", OPTION_IFNAME, IN_SETTINGS(active_slot), "none",
		.help = "the slave to use from the next packet on", .needs = MODE_ACTIVE),
	OF_BOND(OPT_FAIL_OVER_MAC, "fail_over_mac", OPTION_ENUM, IN_BOND(fail_over_mac), "none",
		.help = "which MAC addresses the bond and its slaves have after a failover",
		.names = fail_over_mac_names, .effect = MODE_ALONE),
	OF_BOND(OPT_NUM_GRAT_ARP, "num_grat_arp", OPTION_UINT, IN_BOND(num_peer_notif), "1",
		.help = "how many times each IP address is announced after a failover", .max = 255,
		.effect = MODE_ALONE),
	OF_BOND(OPT_NUM_UNSOL_NA, "num_unsol_na", OPTION_UINT, IN_BOND(num_peer_notif), "1",
		.help = "another name for num_grat_arp", .max = 255, .effect = MODE_ALONE,
		.is_alias = true),
	OF_BOND(OPT_PEER_NOTIF_DELAY, "peer_notif_delay", OPTION_UINT, IN_BOND(peer_notif_delay_ms),
		"0", .help = "milliseconds between two announcements of an address; 0: miimon",
		.max = 300000, .effect = MODE_ALONE),
	OF_BOND(OPT_RESEND_IGMP, "resend_igmp", OPTION_UINT, IN_BOND(resend_igmp), "1",
		.help = "how many times each multicast group is reported after a failover, every "
			"200 ms",
		.max = 255, .effect = MODE_REPORTS),
	OF_BOND(OPT_ALL_SLAVES_ACTIVE, "all_slaves_active", OPTION_BOOL, IN_BOND(all_slaves_active),
		"off", .help = "accept frames that arrive on slaves that are not active",
		.effect = MODE_ACTIVE),
	OF_BOND(OPT_MIN_LINKS, "min_links", OPTION_UINT, IN_BOND(min_links), "0",
		.help = "usable slaves that the bond needs to have carrier; 0 is the same as 1",
		.max = XBOND_MAX_SLAVES),
	OF_BOND(OPT_MIIMON, "miimon", OPTION_UINT, IN_BOND(miimon_ms), "100",
		.help = "milliseconds between two polls of carrier, in addition to link events",
		.min = 1, .max = KERNEL_INT_MAX),
	OF_BOND(OPT_UPDELAY, "updelay", OPTION_UINT, IN_BOND(updelay_ms), "0",
		.help = "milliseconds that carrier must have been back before a slave is used",
		.max = KERNEL_INT_MAX),
	OF_BOND(OPT_DOWNDELAY, "downdelay", OPTION_UINT, IN_BOND(downdelay_ms), "0",
		.help = "milliseconds that carrier must have been gone before a slave counts as "
			"down",
		.max = KERNEL_INT_MAX),
	OF_BOND(OPT_ARP_INTERVAL, "arp_interval", OPTION_UINT, IN_BOND(arp_interval_ms), "0",
		.help = "milliseconds between two ARP or neighbour probes of the targets; 0: off",
		.max = KERNEL_INT_MAX, .effect = MODE_PROBES),
	OF_BOND(OPT_ARP_IP_TARGET, "arp_ip_target", OPTION_IPV4_LIST, IN_BOND(arp_ip_target),
		"none", .help = "hosts that are probed by ARP, at most 16", .effect = MODE_PROBES),
	OF_BOND(OPT_ARP_VALIDATE, "arp_validate", OPTION_ENUM, IN_BOND(arp_validate), "none",
		.help = "which received frames show that a slave works",
		.names = arp_validate_names, .needs = MODE_PROBES),
	OF_BOND(OPT_ARP_ALL_TARGETS, "arp_all_targets", OPTION_ENUM, IN_BOND(arp_all_targets),
		"any",
		.help = "how many targets a validated slave must hear: any one of them, or all",
		.names = arp_all_targets_names, .effect = MODE_ALONE),
	OF_BOND(OPT_ARP_MISSED_MAX, "arp_missed_max", OPTION_UINT, IN_BOND(arp_missed_max), "2",
		.help = "probes in a row without an answer after which a slave is down", .min = 1,
		.max = 255, .needs = MODE_PROBES),
	OF_BOND(OPT_NS_IP6_TARGET, "ns_ip6_target", OPTION_IPV6_LIST, IN_BOND(ns_ip6_target),
		"none", .help = "hosts that are probed by IPv6 neighbour solicitations, at most 16",
		.effect = MODE_PROBES),
	OF_BOND(OPT_BFD_INTERVAL, "bfd_interval", OPTION_UINT, IN_BOND(bfd_interval_ms), "0",
		.help = "milliseconds between two packets of micro-BFD on each slave; 0: off",
		.names = bfd_interval_names, .min = 5, .max = 60000),
	OF_BOND(OPT_BFD_MULTIPLIER, "bfd_multiplier", OPTION_UINT, IN_BOND(bfd_multiplier), "3",
		.help = "packets in a row that must be missing before the far end declares the "
			"link down",
		.min = 2, .max = 255),
	OF_BOND(OPT_BFD_LOCAL, "bfd_local", OPTION_ADDRESS, IN_BOND(bfd_local), "none",
		.help = "the local IP address in packets of micro-BFD, on all slaves"),
	OF_BOND(OPT_BFD_REMOTE, "bfd_remote", OPTION_ADDRESS, IN_BOND(bfd_remote), "none",
		.help = "the far end's IP address in packets of micro-BFD"),
	OF_BOND(OPT_FLAP_LIMIT, "flap_limit", OPTION_UINT, IN_BOND(flap_limit), "0",
		.help = "a slave that loses its link more often in a minute is held down; 0: off",
		.max = XBOND_FLAP_LIMIT_MAX),
	OF_BOND(OPT_RX_SILENCE, "rx_silence", OPTION_UINT, IN_BOND(rx_silence_ms), "0",
		.help = "milliseconds without any received frame after which a slave is not used; "
			"0: off",
		.max = KERNEL_INT_MAX),
	OF_BOND(OPT_ERROR_LIMIT, "error_limit", OPTION_UINT, IN_BOND(error_limit), "0",
		.help = "a slave that receives more broken frames in a million is held down; 0: "
			"off",
		.max = 1000000),
	OF_BOND(OPT_RX_HOOK, "rx_hook", OPTION_ENUM, IN_BOND(rx_hook), "tc",
		.help = "how slaves receive: through TC or XDP; auto: XDP if the driver allows it",
		.names = rx_hook_names),
	OF_BOND(OPT_XDP_TX, "xdp_tx", OPTION_BOOL, IN_BOND(xdp_tx), "off",
		.help = "the slave of frames that XDP programs send to the bond is chosen in XDP"),
	OF_BOND(OPT_MAC_POLICY, "mac_policy", OPTION_ENUM, IN_BOND(mac_policy), "set",
		.help = "slaves get the bond's MAC (set), or keep theirs and accept it, too "
			"(filter)",
		.names = mac_policy_names),
	OF_BOND(OPT_HASH_SEED, "hash_seed", OPTION_UINT, IN_BOND(hash_seed), "random",
		.help = "seed of the hash, so that two bonds in a row choose differently",
		.max = UINT32_MAX, .word = "random", .effect = MODE_HASH),
	OF_BOND(OPT_DEVICE, "device", OPTION_ENUM, IN_BOND(device), "auto",
		.help = "what the bond is made of; auto: a team, or a pair if an option needs one; "
			"pair: "
			"netkit or veth",
		.names = device_names),
	OF_BOND(OPT_UP, "up", OPTION_BOOL, NOWHERE, "on",
		.help = "bring the bond up when bondd has made it from its file", .in_file = true),

	/* They choose slaves by their load. */
	OF_BOND(OPT_REBALANCE_INTERVAL, "rebalance_interval", OPTION_UINT,
		IN_BOND(rebalance_interval_s), "0",
		.help = "seconds after which flows move from busy slaves to idle ones; 0: never",
		.max = 3600, .effect = MODE_HASH),
	OF_BOND(OPT_REBALANCE_IDLE, "rebalance_idle", OPTION_UINT, IN_BOND(rebalance_idle_ms),
		"100",
		.help = "milliseconds that flows must have been silent to be moved; 0: moves busy "
			"ones, "
			"too",
		.max = 60000, .effect = MODE_HASH),
	OF_BOND(OPT_FLOWLET_GAP, "flowlet_gap", OPTION_UINT, IN_BOND(flowlet_gap_us), "0",
		.help = "microseconds of silence after which a flow may change its slave; 0: off",
		.max = 1000000, .effect = MODE_HASH),
	OF_BOND(OPT_TLB_DYNAMIC_LB, "tlb_dynamic_lb", OPTION_BOOL, IN_BOND(tlb_dynamic_lb), "on",
		.help = "move flows by the load of the slaves", .needs = MODE_OWN_MACS),
	OF_BOND(OPT_LP_INTERVAL, "lp_interval", OPTION_UINT, IN_BOND(lp_interval_s), "1",
		.help = "seconds between two learning packets, from which switches learn each "
			"slave's "
			"address",
		.min = 1, .max = KERNEL_INT_MAX, .effect = MODE_OWN_MACS),

	/* Only modes with LACP have them. */
	OF_BOND(OPT_LACP_RATE, "lacp_rate", OPTION_ENUM, IN_BOND(lacp_rate), "slow",
		.help = "how often the partner is asked to send LACPDUs: every 30 s or every "
			"second",
		.names = lacp_rate_names, .needs = MODE_LACP),
	OF_BOND(OPT_LACP_ACTIVE, "lacp_active", OPTION_BOOL, IN_BOND(lacp_active), "on",
		.help = "send LACPDUs first, and not only when the partner does",
		.needs = MODE_LACP),
	OF_BOND(OPT_LACP_TX, "lacp_tx", OPTION_ENUM, IN_BOND(lacp_tx), "hash",
		.help = "how the distributing ports share the traffic", .names = lacp_tx_names,
		.needs = MODE_LACP),
	OF_BOND(OPT_AD_SELECT, "ad_select", OPTION_ENUM, IN_BOND(ad_select), "stable",
		.help = "which aggregator is used when slaves form several",
		.names = ad_select_names, .effect = MODE_LACP),
	OF_BOND(OPT_AD_ACTOR_SYS_PRIO, "ad_actor_sys_prio", OPTION_UINT, IN_BOND(ad_actor_sys_prio),
		"65535",
		.help = "priority of this system; the end with the lower one decides which ports "
			"stand by",
		.min = 1, .max = 65535, .needs = MODE_LACP),
	OF_BOND(OPT_AD_ACTOR_SYSTEM, "ad_actor_system", OPTION_MAC, IN_BOND(ad_actor_system),
		"none", .help = "this system's address in LACPDUs; none: the bond's MAC",
		.needs = MODE_LACP),
	OF_BOND(OPT_AD_USER_PORT_KEY, "ad_user_port_key", OPTION_UINT, IN_BOND(ad_user_port_key),
		"0", .help = "the upper ten bits of the ports' key", .max = 1023,
		.needs = MODE_LACP),
	OF_BOND(OPT_COUPLED_CONTROL, "coupled_control", OPTION_BOOL, IN_BOND(coupled_control), "on",
		.help = "begin to receive and to transmit at the same time, not one after the "
			"other",
		.needs = MODE_LACP),
	OF_BOND(OPT_BROADCAST_NEIGHBOR, "broadcast_neighbor", OPTION_BOOL,
		IN_BOND(broadcast_neighbor), "off",
		.help = "send ARP and IPv6 neighbour discovery through every port",
		.needs = MODE_LACP),
	OF_BOND(OPT_MAX_LINKS, "max_links", OPTION_UINT, IN_BOND(max_links), "0",
		.help = "the highest number of ports in use; the others stand by; 0: no limit",
		.max = XBOND_MAX_SLAVES, .needs = MODE_LACP),
	OF_BOND(OPT_LACP_REVERT, "lacp_revert", OPTION_BOOL, IN_BOND(lacp_revert), "on",
		.help = "with max_links: a better port that comes back takes over again",
		.needs = MODE_LACP),
	OF_BOND(OPT_LACP_WTR, "lacp_wtr", OPTION_UINT, IN_BOND(lacp_wtr_s), "0",
		.help = "seconds for which a port that failed stands by when it comes back, while "
			"others "
			"work",
		.max = 65535, .needs = MODE_LACP),
	OF_BOND(OPT_MIN_LINKS_LACP, "min_links_lacp", OPTION_BOOL, IN_BOND(min_links_lacp), "off",
		.help = "with fewer ports than min_links, tell the partner that no port is in sync",
		.needs = MODE_LACP),
	OF_BOND(OPT_LACP_PARTNER, "lacp_partner", OPTION_MAC, IN_BOND(lacp_partner), "none",
		.help = "the only system that is accepted as a partner; none: any",
		.needs = MODE_LACP),
	OF_BOND(OPT_LACP_STRICT, "lacp_strict", OPTION_BOOL, IN_BOND(lacp_strict), "off",
		.help = "no port carries traffic without a partner, whatever lacp_fallback says",
		.needs = MODE_LACP),
	OF_BOND(OPT_LACP_FALLBACK, "lacp_fallback", OPTION_ENUM, IN_BOND(lacp_fallback), "one",
		.help = "which ports carry traffic while none is in sync with a partner",
		.names = lacp_fallback_names, .needs = MODE_LACP),
	OF_BOND(OPT_LACP_FALLBACK_DELAY, "lacp_fallback_delay", OPTION_UINT,
		IN_BOND(lacp_fallback_delay_ms), "3000",
		.help = "milliseconds without a partner before lacp_fallback applies",
		.max = KERNEL_INT_MAX, .needs = MODE_LACP),
	OF_BOND(OPT_LACP_HOLD, "lacp_hold", OPTION_BOOL, IN_BOND(lacp_hold), "on",
		.help = "the BPF programs keep the ports up without bondd", .needs = MODE_LACP),
	OF_BOND(OPT_DRAIN_MARKERS, "drain_markers", OPTION_BOOL, IN_BOND(drain_markers), "off",
		.help = "before flows move away from a port, wait until the partner has answered a "
			"marker",
		.needs = MODE_LACP),

	OF_SLAVE(OPT_WEIGHT, "weight", OPTION_UINT, IN_SETTINGS(weight), "auto",
		 .help = "share of the traffic; auto: by link speed, equal if a speed is unknown",
		 .names = weight_names, .min = 1, .max = 65535, .effect = MODE_SHARES),
	OF_SLAVE(OPT_DRAIN, "drain", OPTION_BOOL, IN_SETTINGS(drain_mask), "off",
		 .help = "carry traffic only when no other slave can"),
	OF_SLAVE(OPT_ACTOR_PORT_PRIO, "actor_port_prio", OPTION_UINT, IN_SLAVE(actor_port_prio),
		 "255", .help = "priority of the port: with max_links the lowest are in use",
		 .max = 65535, .needs = MODE_LACP),
	OF_SLAVE(OPT_QUEUE_ID, "queue_id", OPTION_UINT, IN_SLAVE(queue_id), "0",
		 .help = "packets with this queue_mapping take the slave; 0: none",
		 .max = 65534 /* the kernel's "no queue" is one more */),
	OF_SLAVE(OPT_PRIO, "prio", OPTION_INT, IN_SLAVE(prio), "0",
		 .help = "the slave with the highest prio is preferred if the primary is not up",
		 .needs = MODE_ACTIVE),
	OF_SLAVE(OPT_FORCE, "force", OPTION_BOOL, NOWHERE, "no",
		 .help = "add the slave although it has IP addresses, which are removed"),
};

const struct option_spec *option_at(enum option_id id)
{
	return &option_table[id];
}
