/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Announcements after a failover in active-backup: frames from bond0 that teach switches and
 * neighbours where its MAC address is now. One for each IP address and multicast group, of bond0
 * and of the devices above it, as the kernel's driver makes its stack send them
 * (NETDEV_NOTIFY_PEERS, NETDEV_RESEND_IGMP); and one for each machine behind a bridge above it. Two
 * threads, one of them for machines, find out what to announce and send it, with pauses, so the
 * main loop does not wait for it, and no bond for another one's machines.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "network/mac_lists.h"
#include "network/nl.h"

struct announcer;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct announcer *announcer_new(struct err *err);
void announcer_free(struct announcer *announcer);

struct announce_order {
	int port_ifindex; /* of the bond's port side; where bond0 is, is found each time */
	unsigned int addresses, groups;		   /* how often each is announced */
	uint32_t address_delay_ms, group_delay_ms; /* between two times */
	bool machines; /* addresses behind bridges, too, as often as those of the bond */
};

/*
 * Announces a bond, the first time at once. What an earlier order for this bond has left to do is
 * dropped: everything starts again.
 */
void announce(struct announcer *announcer, const struct announce_order *order);
/* The bond ends. Its announcements that are not sent yet are dropped. */
void announce_no_more(struct announcer *announcer, int port_ifindex);

/* announce_survey.c and announce_frames.c, for announce.c alone: */

/*
 * What must be announced after a failover: the devices of a namespace, which device is on which,
 * their addresses and multicast groups. Each list is read from the kernel once, however many bonds
 * and devices there are. Reading sends nothing.
 */

enum announce_what { ANNOUNCE_IPV4, ANNOUNCE_IPV6, ANNOUNCE_GROUP_IPV4, ANNOUNCE_GROUP_IPV6 };

/* Has no padding, because it is compared as memory. */
struct announce_item {
	int ifindex;
	uint8_t what;	       /* enum announce_what */
	uint8_t is_link_local; /* the flow label of IPv6 */
	/* Its uniqueness is not known yet (RFC 4429), so others must keep their entries for it. */
	uint8_t is_optimistic;
	uint8_t pad0;
	uint8_t bytes[16];
};

struct announce_device {
	int ifindex;
	int lower;	/* the device below, if its announcements are for this device, too; or 0 */
	int lower_nsid; /* the namespace of lower, by its number here; -1: this one */
	int peer; /* the other end of a pair, if it is in this namespace; of a team itself; or 0 */
	int bridge;		 /* the bridge that it is a port of; or 0 */
	bool forwards, isolated; /* of such a port, as in struct link_info */
	uint16_t filters_vlans;
	bool is_above; /* the device that announce_survey_above() was asked for, and all above it */
	uint8_t mac[XBOND_MAC_SIZE];
	bool is_up;
	bool is_bridge;
	bool has_arp;
	bool is_router; /* forwards IPv6 */
};

struct announce_survey {
	struct announce_device *devices; /* by ifindex */
	size_t device_count;
	struct announce_item *items; /* by ifindex, then by kind */
	size_t item_count;
	bool knows_routers;
};

/*
 * Reads as much as can be read, of the namespace of nl and of the calling thread. The devices come
 * first.
 */
void announce_survey_read_devices(struct nl *nl, struct announce_survey *ret_survey);
void announce_survey_read_items(struct nl *nl, struct announce_survey *survey);
void announce_survey_free(struct announce_survey *survey);

/* The first item of a device; ret_count: how many it has. */
const struct announce_item *announce_survey_items(const struct announce_survey *survey, int ifindex,
						  size_t *ret_count);

/* The other end of a pair; 0 if it is in another namespace. */
int announce_survey_peer(const struct announce_survey *survey, int ifindex);

/*
 * The device with this ifindex, then all devices above it that are up: VLANs, macvlans, ipvlans,
 * bridges, at any height. Appends them to count places in survey->devices, which has none twice,
 * and returns how many there are then. With a count of 0 it begins anew. ret_places has room for
 * survey->device_count.
 */
size_t announce_survey_above(struct announce_survey *survey, int ifindex, size_t *ret_places,
			     size_t count);

/*
 * The machines behind other ports of the bridge that this device is a port of, if it is a port.
 * Their frames must be such as the bridge would pass on to it. What leads to the bond, as
 * announce_survey_above() has found out, has no machines. Returns how many; ret_machines is to be
 * freed. Their VLANs are the tags that the port sends, 0 for none, of ret_tag_protocol.
 */
size_t announce_survey_machines(struct nl *nl, const struct announce_survey *survey,
				const struct announce_device *port, struct fdb_entry **ret_machines,
				uint16_t *ret_tag_protocol);

/* The frames by which a host announces where its MAC address is now. */

struct announce_sender {
	int fd; /* a packet socket */
	int ifindex;
	const uint8_t *mac;
	uint16_t tag_protocol, vlan; /* 0: no tag; RARP alone can have one */
};

/* An ARP request of the IPv4 address for itself (RFC 5227, 3). */
void announce_arp(const struct announce_sender *sender, const uint8_t address[4]);
/* For who has no address that is known: at least the switches learn. */
void announce_rarp(const struct announce_sender *sender);

enum { ANNOUNCE_ROUTER = 1, ANNOUNCE_OVERRIDE = 2 };
/* An unsolicited neighbour advertisement (RFC 4861, 7.2.6) to all nodes. */
void announce_advertisement(const struct announce_sender *sender, const uint8_t address[16],
			    int flags);

/*
 * The report of a multicast group that a device has joined, by IGMPv2 (RFC 2236) or MLDv1
 * (RFC 2710): switches that snoop then forward the group to the new port before the next query.
 * source: an address of the device, or zero; of IPv6 one that is link-local, or unspecified, which
 * only snooping switches accept (RFC 3590).
 */
void announce_group_ipv4(const struct announce_sender *sender, const uint8_t source[4],
			 const uint8_t group[4]);
void announce_group_ipv6(const struct announce_sender *sender, const uint8_t source[16],
			 const uint8_t group[16]);

#endif
