/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of options, as the maps have them. A part of abi.h, which includes it. */
#ifndef XBOND_ABI_OPTIONS_H
#define XBOND_ABI_OPTIONS_H

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
	/* Only as the value of the option: netkit where the kernel has it, otherwise veth. */
	XBOND_DEVICE_AUTO = 0,
	XBOND_DEVICE_VETH = 1,
	XBOND_DEVICE_NETKIT = 2,
	/* Not an end of a pair: a team of the kernel, whose ports the slaves are. */
	XBOND_DEVICE_TEAM = 3,
};

#endif
