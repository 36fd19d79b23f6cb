/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which VLAN tags a packet gets on its way from a device down to bond0. Pure; works on a list of
 * devices.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_TAGS_H
#define XBOND_DAEMON_MONITOR_ARP_TAGS_H

#include <stdbool.h>

#include "daemon/monitor/arp_frames.h"
#include "network/link.h"

struct arp_tags {
	struct arp_tag tag[ARP_MAX_TAGS]; /* from the outside */
	unsigned int count;
};

/*
 * Returns false if the device is not on bond0: directly, on a VLAN, macvlan or the like, or on a
 * bridge that one of them is a port of, at whatever height. The same for more tags than there is
 * room for.
 */
bool arp_tags_to_bond(const struct link_list *links, int ifindex, int bond,
		      struct arp_tags *ret_tags);

#endif
