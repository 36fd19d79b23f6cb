/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce_round.h"

#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/igmp.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/clock.h"
#include "common/err.h"
#include "daemon/announce/announce_frames.h"
#include "daemon/announce/announce_survey.h"
#include "network/link.h"
#include "network/packet.h"

#define SLICE_NS (2 * NS_PER_MS)	/* time of sending without a pause */
#define REST_NS ((long)(1 * NS_PER_MS)) /* pause after it, for everybody else */

/*
 * After a failover: reports a multicast group that a device has joined, by IGMPv2 (RFC 2236) or
 * MLDv1 (RFC 2710). Switches that snoop then forward the group to the new port before the next
 * query.
 */

struct igmp_report {
	struct ether_header eth;
	struct iphdr ip;
	uint8_t router_alert[4];
	struct igmp igmp;
} __attribute__((packed));

struct mld_report {
	struct ether_header eth;
	struct ip6_hdr ip;
	uint8_t hop_by_hop[8];
	struct mld_hdr mld;
} __attribute__((packed));

/* source: an address of the device, or zero. */
static void announce_group_ipv4(const struct announce_sender *sender, const uint8_t source[4],
				const uint8_t group[4])
{
	static const uint8_t router_alert[4] = { 0x94, 4, 0, 0 };
	const uint8_t mac[XBOND_MAC_SIZE] = {
		0x01, 0x00, 0x5e, group[1] & 0x7f, group[2], group[3]
	};
	struct igmp_report frame = { .eth.ether_type = htons(ETHERTYPE_IP) };

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, sender->mac, XBOND_MAC_SIZE);
	frame.ip.version = 4;
	frame.ip.ihl = (sizeof(frame.ip) + sizeof(router_alert)) / 4;
	frame.ip.tos = IPTOS_CLASS_CS6;
	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	frame.ip.ttl = 1;
	frame.ip.protocol = IPPROTO_IGMP;
	memcpy(&frame.ip.saddr, source, 4);
	memcpy(&frame.ip.daddr, group, 4);
	memcpy(frame.router_alert, router_alert, sizeof(router_alert));
	frame.ip.check =
		checksum_end(checksum_add(0, &frame.ip, sizeof(frame.ip) + sizeof(router_alert)));
	frame.igmp.igmp_type = IGMP_V2_MEMBERSHIP_REPORT;
	memcpy(&frame.igmp.igmp_group, group, 4);
	frame.igmp.igmp_cksum = checksum_end(checksum_add(0, &frame.igmp, sizeof(frame.igmp)));
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}

/* source: link-local, or unspecified. Only snooping switches accept the latter (RFC 3590). */
static void announce_group_ipv6(const struct announce_sender *sender, const uint8_t source[16],
				const uint8_t group[16])
{
	/* Router alert: MLD. */
	static const uint8_t hop_by_hop[8] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 };
	const uint8_t mac[XBOND_MAC_SIZE] = {
		0x33, 0x33, group[12], group[13], group[14], group[15]
	};
	struct mld_report frame = { .eth.ether_type = htons(ETHERTYPE_IPV6) };
	uint32_t sum = sizeof(frame.mld) + IPPROTO_ICMPV6;

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, sender->mac, XBOND_MAC_SIZE);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons(sizeof(hop_by_hop) + sizeof(frame.mld));
	frame.ip.ip6_nxt = IPPROTO_HOPOPTS;
	frame.ip.ip6_hlim = 1;
	memcpy(&frame.ip.ip6_src, source, 16);
	memcpy(&frame.ip.ip6_dst, group, 16);
	memcpy(frame.hop_by_hop, hop_by_hop, sizeof(hop_by_hop));
	frame.mld.mld_type = MLD_LISTENER_REPORT;
	memcpy(&frame.mld.mld_addr, group, 16);
	sum = checksum_add(sum, &frame.ip.ip6_src, 32);
	frame.mld.mld_cksum = checksum_end(checksum_add(sum, &frame.mld, sizeof(frame.mld)));
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}

/* One run of the thread: what all its announcements share. */
struct round {
	struct announcement *announcements;
	struct announce_survey survey; /* of the namespace that is being worked on */
	size_t *places;		       /* room for one entry per device */
	int fd;			       /* a packet socket there */
	uint64_t slice_ns;	       /* when the present slice began */
};

static bool announce_is_dropped(const struct announcement *announcement)
{
	return __atomic_load_n(&announcement->dropped, __ATOMIC_RELAXED);
}

static void announce_pace(struct round *round)
{
	static const struct timespec rest = { .tv_nsec = REST_NS };

	if (clock_now_ns() - round->slice_ns < SLICE_NS)
		return;
	nanosleep(&rest, NULL);
	round->slice_ns = clock_now_ns();
}

/* The device's own addresses that are the sources of its reports. */
struct sources {
	uint8_t ipv4[4];
	uint8_t ipv6[16];
};

static void announce_note_source(const struct announce_item *item, struct sources *sources)
{
	if (item->what == ANNOUNCE_IPV4)
		memcpy(sources->ipv4, item->bytes, sizeof(sources->ipv4));
	else if (item->what == ANNOUNCE_IPV6 && item->is_link_local && !item->is_optimistic)
		memcpy(sources->ipv6, item->bytes, sizeof(sources->ipv6));
}

static bool announce_is_group(const struct announce_item *item)
{
	return item->what == ANNOUNCE_GROUP_IPV4 || item->what == ANNOUNCE_GROUP_IPV6;
}

static void announce_group(const struct announce_sender *sender, const struct announce_item *item,
			   const struct sources *sources)
{
	if (item->what == ANNOUNCE_GROUP_IPV4)
		announce_group_ipv4(sender, sources->ipv4, item->bytes);
	else
		announce_group_ipv6(sender, sources->ipv6, item->bytes);
}

/*
 * Returns false if this address does not tell the switches. Unless another one does, they still
 * need a RARP.
 */
static bool announce_address(const struct round *round, const struct announce_device *device,
			     const struct announce_sender *sender, const struct announce_item *item)
{
	int flags = (device->is_router ? ANNOUNCE_ROUTER : 0) |
		    (item->is_optimistic ? 0 : ANNOUNCE_OVERRIDE);

	if (item->what == ANNOUNCE_IPV4) {
		if (device->has_arp)
			announce_arp(sender, item->bytes);
		return device->has_arp;
	}
	if (round->survey.knows_routers)
		announce_advertisement(sender, item->bytes, flags);
	return round->survey.knows_routers && !item->is_link_local;
}

static void announce_device(struct round *round, const struct announcement *announcement,
			    const struct announce_device *device)
{
	const struct announce_sender sender = { round->fd, device->ifindex, device->mac };
	const struct announce_item *items;
	struct sources sources = { 0 };
	bool said = !announcement->addresses.is_due;
	size_t count;

	items = announce_survey_items(&round->survey, device->ifindex, &count);
	for (size_t i = 0; i < count && !announce_is_dropped(announcement); i++) {
		announce_pace(round);
		announce_note_source(&items[i], &sources);
		if (announce_is_group(&items[i])) {
			if (announcement->groups.is_due)
				announce_group(&sender, &items[i], &sources);
		} else if (announcement->addresses.is_due) {
			said |= announce_address(round, device, &sender, &items[i]);
		}
	}
	announce_pace(round);
	if (!said && !announce_is_dropped(announcement))
		announce_rarp(&sender);
}

static void announce_reach(struct announcement *announcement, int ifindex)
{
	int *grown = memory_need(reallocarray(announcement->reached,
					      announcement->reached_count + 1, sizeof(*grown)));

	announcement->reached = grown;
	grown[announcement->reached_count++] = ifindex;
}

static bool announce_has_reached(const struct announcement *announcement, int ifindex)
{
	for (size_t i = 0; i < announcement->reached_count; i++)
		if (announcement->reached[i] == ifindex)
			return true;
	return false;
}

/* Marks that device and the devices above it. Devices in other namespaces may be above those. */
static void announce_from(struct round *round, struct announcement *announcement, int ifindex,
			  bool is_home)
{
	size_t count = announce_survey_above(&round->survey, ifindex, round->places);

	for (size_t i = 0; i < count && !announce_is_dropped(announcement); i++) {
		const struct announce_device *device = &round->survey.devices[round->places[i]];

		announce_device(round, announcement, device);
		if (is_home)
			announce_reach(announcement, device->ifindex);
	}
}

/* Returns false if nothing can be sent from here. */
static bool announce_get_ready(struct round *round)
{
	round->fd = packet_open();
	round->places = memory_need(calloc(round->survey.device_count + 1, sizeof(*round->places)));
	round->slice_ns = clock_now_ns();
	return round->fd >= 0;
}

static void announce_clear(struct round *round)
{
	if (round->fd >= 0)
		close(round->fd);
	free(round->places);
	announce_survey_free(&round->survey);
}

static void announce_home(struct round *round, struct nl *nl)
{
	announce_survey_read_devices(nl, &round->survey);
	announce_survey_read_items(nl, &round->survey);
	if (announce_get_ready(round))
		for (struct announcement *each = round->announcements; each; each = each->next) {
			each->reached_count = 0;
			/* bond0 may be in another namespace */
			announce_reach(each, each->port_ifindex);
			announce_from(round, each,
				      announce_survey_peer(&round->survey, each->port_ifindex),
				      true);
		}
	announce_clear(round);
}

/*
 * home: the number that bondd's namespace has here. Returns NULL if that device is on none of ours.
 */
static struct announcement *announce_whose(const struct round *round,
					   const struct announce_device *device, int home)
{
	struct announcement *each = round->announcements;

	if (!device->lower || device->lower_nsid < 0 || device->lower_nsid != home)
		return NULL;
	while (each && (announce_is_dropped(each) || !announce_has_reached(each, device->lower)))
		each = each->next;
	return each;
}

static bool announce_concerns(const struct round *round, int home)
{
	for (size_t i = 0; i < round->survey.device_count; i++)
		if (announce_whose(round, &round->survey.devices[i], home))
			return true;
	return false;
}

static void announce_in_other_netns(int home_fd, void *arg)
{
	struct round round = { .announcements = arg, .fd = -1 };
	struct nl nl;
	int home;

	if (nl_init(&nl))
		return;
	announce_survey_read_devices(&nl, &round.survey);
	/* It has been in the list since the devices on it were announced, if not longer. */
	home = namespaces_number(&nl, home_fd);
	if (announce_concerns(&round, home) && announce_get_ready(&round)) {
		announce_survey_read_items(&nl, &round.survey);
		for (size_t i = 0; i < round.survey.device_count; i++) {
			const struct announce_device *device = &round.survey.devices[i];
			struct announcement *announcement = announce_whose(&round, device, home);

			if (announcement)
				announce_from(&round, announcement, device->ifindex, false);
		}
	}
	announce_clear(&round);
	nl_done(&nl);
}

void announce_round(struct nl *nl, struct announcement *announcements)
{
	struct round round = { .announcements = announcements, .fd = -1 };

	announce_home(&round, nl);
	namespaces_visit(announce_in_other_netns, announcements);
}

void announcement_free(struct announcement *announcement)
{
	free(announcement->reached);
	free(announcement);
}
