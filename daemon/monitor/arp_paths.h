/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that finds out by which addresses and VLANs probes get to the targets of the ARP
 * monitor: it asks for routes and devices, in the namespace that bond0 is in. The kernel may answer
 * under the RTNL lock, for which the main loop does not wait. Knows no bonds.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_PATHS_H
#define XBOND_DAEMON_MONITOR_ARP_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/base/worker.h"
#include "daemon/monitor/arp_sender.h"
#include "network/link.h"

/*
 * Which VLAN tags a packet gets on its way from a device down to bond0. Pure; works on a list of
 * devices.
 */

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

struct arp_path {
	bool leads; /* over the bond; also if there is no route at all */
	uint8_t source[16];
	uint8_t mac[XBOND_MAC_SIZE]; /* of the device with that address; zero: it is bond0 */
	struct arp_tags tags;
};

struct arp_query {
	uint32_t bond;				   /* a number that the caller chooses */
	int ifindex;				   /* of bond0 */
	int nsid;				   /* its namespace; -1: this one */
	uint8_t target[XBOND_PROBE_TARGETS][16];   /* as in struct xbond_probes */
	struct arp_path path[XBOND_PROBE_TARGETS]; /* the answers, if result is 0 */
	int result;
	bool is_dear; /* another namespace was looked for, or all devices were read */
};

/* Asks for a struct arp_query. */
extern const struct asker_kind arp_paths_kind;

#endif
