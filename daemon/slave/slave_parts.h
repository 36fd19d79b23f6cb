/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a slave, for the table in daemon/parts.c. What each does is said where it is. */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_PARTS_H
#define XBOND_DAEMON_SLAVE_SLAVE_PARTS_H

#include "daemon/bond/part.h"

extern struct part state_part, ipv6_part, mtu_part, slow_part, flags_part,
	up_part;			   /* slave_link.c */
extern struct part mac_part, mac_try_part; /* slave_mac.c */
extern struct part groups_part;		   /* slave_multicast.c */
extern struct part lro_part;		   /* lro.c */
extern struct part vlan_filter_part;	   /* vlan_filter.c */
extern struct part own_vlans_part;	   /* own_vlans.c */
extern struct part rx_part;		   /* slave_rx.c */
extern struct part team_part;		   /* slave_team.c */
extern struct part xdp_part, xdp_tx_part;  /* xdp_hooks.c */
extern struct part rx_turn_part;	   /* rx_turn_steps.c */
extern struct part hooks_part;		   /* rx_place.c */
extern struct part trouble_part;	   /* slave_trouble.c */

#endif
