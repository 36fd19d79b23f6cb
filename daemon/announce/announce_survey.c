/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce.h"

#include <linux/if_addr.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/abi.h"
#include "common/mac.h"
#include "common/memory.h"
#include "network/bonding.h"
#include "network/ip.h"
#include "network/link.h"
#include "network/mac_lists.h"

static const uint8_t all_nodes[16] = { 0xff, 0x02, [15] = 1 };

_Static_assert(sizeof(struct announce_item) == 24, "no padding");

/*
 * The devices to which the kernel passes on a bond's notifications (NETDEV_NOTIFY_PEERS,
 * NETDEV_RESEND_IGMP).
 */
static bool survey_hands_on(const struct link_info *link)
{
	static const char *const kinds[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap" };

	if (link_is_paired(link)) /* bond0 itself, on its port side */
		return link->lower_nsid >= 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(link->kind, kinds[i]))
			return true;
	return false;
}

/* The bond's device, for the port side of a bond. A team, or a bond of the kernel, is both. */
static int survey_peer(const struct link_info *link)
{
	if (!strcmp(link->kind, TEAM_KIND) || !strcmp(link->kind, "bond"))
		return link->ifindex;
	return link_is_paired(link) && link->lower_nsid < 0 ? link->lower : 0;
}

static void survey_take_link(const struct link_info *link, void *arg)
{
	struct announce_survey *survey = arg;
	struct announce_device *device;

	if (link->type != ARPHRD_ETHER || !link->has_mac)
		return;
	memory_more(survey->devices, survey->device_count);
	device = &survey->devices[survey->device_count++];
	*device = (struct announce_device){
		.ifindex = link->ifindex,
		.lower = survey_hands_on(link) ? link->lower : 0,
		.lower_nsid = link->lower_nsid,
		.peer = survey_peer(link),
		.bridge = link->master,
		.forwards = link->forwards,
		.isolated = link->isolated,
		.filters_vlans = link->filters_vlans,
		.is_up = link->flags & IFF_UP,
		.is_bridge = !strcmp(link->kind, "bridge"),
		.has_arp = !(link->flags & IFF_NOARP),
	};
	memcpy(device->mac, link->mac, sizeof(device->mac));
}

static void survey_add(struct announce_survey *survey, const struct announce_item *item)
{
	memory_more(survey->items, survey->item_count);
	survey->items[survey->item_count++] = *item;
}

/*
 * Leaves out tentative addresses, which may belong to somebody else, and addresses that were found
 * to do so (RFC 4862, 5.4). A deprecated address remains in use by its users, and is announced.
 */
static void survey_take_address(const struct address *address, void *arg)
{
	bool is_optimistic = address->flags & IFA_F_OPTIMISTIC;
	struct announce_item item = {
		.ifindex = address->ifindex,
		.what = address->family == AF_INET ? ANNOUNCE_IPV4 : ANNOUNCE_IPV6,
		.is_link_local = address->is_link_local,
		.is_optimistic = is_optimistic,
	};

	if (address->flags & IFA_F_DADFAILED ||
	    (address->flags & IFA_F_TENTATIVE && !is_optimistic))
		return;
	memcpy(item.bytes, address->bytes, address->family == AF_INET ? 4 : 16);
	survey_add(arg, &item);
}

/*
 * Leaves out link-local groups (224.0.0.0/24), which are never snooped, and source-specific ones
 * (232/8), for which IGMPv2 has no report.
 */
static void survey_take_ipv4(int ifindex, const uint8_t *group, void *arg)
{
	struct announce_item item = { .ifindex = ifindex, .what = ANNOUNCE_GROUP_IPV4 };

	if (group[0] == 232 || (group[0] == 224 && !group[1] && !group[2]))
		return;
	memcpy(item.bytes, group, 4);
	survey_add(arg, &item);
}

/*
 * Leaves out groups with the scope of this host, all nodes, which is never reported (RFC 2710, 5),
 * and source-specific groups (ff3x::/32).
 */
static void survey_take_ipv6(int ifindex, const uint8_t *group, void *arg)
{
	struct announce_item item = { .ifindex = ifindex, .what = ANNOUNCE_GROUP_IPV6 };

	if ((group[1] & 0xf) <= 1 || group[1] >> 4 == 3 ||
	    !memcmp(group, all_nodes, sizeof(all_nodes)))
		return;
	memcpy(item.bytes, group, 16);
	survey_add(arg, &item);
}

static int survey_compare_devices(const void *left, const void *right)
{
	const struct announce_device *a = left, *b = right;

	return (a->ifindex > b->ifindex) - (a->ifindex < b->ifindex);
}

static int survey_compare_items(const void *left, const void *right)
{
	const struct announce_item *a = left, *b = right;

	if (a->ifindex != b->ifindex)
		return a->ifindex > b->ifindex ? 1 : -1;
	return memcmp(&a->what, &b->what, sizeof(*a) - offsetof(struct announce_item, what));
}

/*
 * A list that changed during reading was read again, so entries may appear twice. Removes the
 * duplicates. Returns how many entries stay.
 */
static size_t survey_sort(void *array, size_t count, size_t size,
			  int (*compare)(const void *, const void *))
{
	char *bytes = array;
	size_t kept = 0;

	if (!count)
		return 0;
	qsort(array, count, size, compare);
	for (size_t i = 1; i < count; i++)
		if (compare(bytes + kept * size, bytes + i * size))
			memmove(bytes + ++kept * size, bytes + i * size, size);
	return kept + 1;
}

static struct announce_device *survey_find(const struct announce_survey *survey, int ifindex)
{
	const struct announce_device key = { .ifindex = ifindex };

	if (!survey->device_count)
		return NULL;
	return bsearch(&key, survey->devices, survey->device_count, sizeof(key),
		       survey_compare_devices);
}

int announce_survey_peer(const struct announce_survey *survey, int ifindex)
{
	const struct announce_device *device = survey_find(survey, ifindex);

	return device ? device->peer : 0;
}

static void survey_take_router(int ifindex, void *arg)
{
	struct announce_device *device = survey_find(arg, ifindex);

	if (device)
		device->is_router = true;
}

void announce_survey_read_devices(struct nl *nl, struct announce_survey *ret_survey)
{
	struct announce_survey survey = { 0 };

	link_visit(nl, -1, survey_take_link, &survey);
	survey.device_count = survey_sort(survey.devices, survey.device_count,
					  sizeof(*survey.devices), survey_compare_devices);
	*ret_survey = survey;
}

void announce_survey_read_items(struct nl *nl, struct announce_survey *survey)
{
	survey->knows_routers = !ipv6_visit_routers(nl, survey_take_router, survey);
	address_visit(nl, survey_take_address, survey);
	multicast_list_ipv4(survey_take_ipv4, survey);
	multicast_list_ipv6(survey_take_ipv6, survey);
	survey->item_count = survey_sort(survey->items, survey->item_count, sizeof(*survey->items),
					 survey_compare_items);
}

void announce_survey_free(struct announce_survey *survey)
{
	free(survey->devices);
	free(survey->items);
	*survey = (struct announce_survey){ 0 };
}

const struct announce_item *announce_survey_items(const struct announce_survey *survey, int ifindex,
						  size_t *ret_count)
{
	size_t low = 0, high = survey->item_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (survey->items[middle].ifindex < ifindex)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < survey->item_count && survey->items[end].ifindex == ifindex;)
		end++;
	*ret_count = end - low;
	return survey->items + low;
}

/* The devices found so far. */
struct above {
	struct announce_survey *survey;
	size_t *places;
	size_t count;
};

static void survey_enlist(struct above *above, struct announce_device *device)
{
	if (!device->is_up || device->is_above)
		return;
	device->is_above = true;
	above->places[above->count++] = (size_t)(device - above->survey->devices);
}

static void survey_enlist_above(struct above *above, const struct announce_device *lower)
{
	struct announce_survey *survey = above->survey;
	struct announce_device *master = lower->bridge ? survey_find(survey, lower->bridge) : NULL;

	for (size_t i = 0; i < survey->device_count; i++)
		if (survey->devices[i].lower == lower->ifindex && survey->devices[i].lower_nsid < 0)
			survey_enlist(above, &survey->devices[i]);
	if (master && master->is_bridge)
		survey_enlist(above, master);
}

size_t announce_survey_above(struct announce_survey *survey, int ifindex, size_t *ret_places,
			     size_t count)
{
	struct announce_device *first = survey_find(survey, ifindex);
	struct above above = { .survey = survey, .places = ret_places, .count = count };

	for (size_t i = 0; !count && i < survey->device_count; i++)
		survey->devices[i].is_above = false;
	if (first)
		survey_enlist(&above, first);
	for (size_t i = count; i < above.count; i++)
		survey_enlist_above(&above, &survey->devices[above.places[i]]);
	return above.count;
}

/*
 * Of each port at most so many. Who sends with more addresses takes the places of nobody behind
 * another port.
 */
#define MACHINES_OF_PORT 1024

struct machines {
	const struct announce_survey *survey;
	const struct announce_device *port;
	uint8_t how[FDB_VLANS]; /* the port sends each VLAN */
	struct fdb_entry *entry;
	size_t count;
};

/* Where a bridge does not tell VLANs apart, it heeds no entry of one. */
static void machines_read_vlans(struct nl *nl, const struct announce_device *bridge,
				struct machines *machines)
{
	if (bridge->filters_vlans)
		fdb_vlans(nl, machines->port->ifindex, machines->how);
	else
		machines->how[0] = FDB_UNTAGGED;
}

static void machines_take(const struct fdb_entry *entry, void *arg)
{
	struct machines *machines = arg;
	const struct announce_device *port = survey_find(machines->survey, entry->port);

	if (!port || port->is_above || !port->forwards || entry->vlan >= FDB_VLANS ||
	    machines->how[entry->vlan] == FDB_NOT || mac_is_of_router(entry->mac) ||
	    (port->isolated && machines->port->isolated))
		return;
	memory_more(machines->entry, machines->count);
	machines->entry[machines->count++] = *entry;
}

static int machines_compare(const void *left, const void *right)
{
	const struct fdb_entry *a = left, *b = right;
	int r = a->port != b->port ? a->port - b->port : a->vlan - b->vlan;

	return r ? r : memcmp(a->mac, b->mac, sizeof(a->mac));
}

/* From what a VLAN is called in the bridge to the tag at the port. Returns how many stay. */
static size_t machines_keep(struct machines *machines)
{
	size_t kept = 0, of_port = 0;
	int port = 0;

	for (size_t i = 0; i < machines->count; i++) {
		struct fdb_entry entry = machines->entry[i];

		of_port = entry.port == port ? of_port + 1 : 1;
		port = entry.port;
		if (of_port > MACHINES_OF_PORT)
			continue;
		if (machines->how[entry.vlan] == FDB_UNTAGGED)
			entry.vlan = 0;
		machines->entry[kept++] = entry;
	}
	return kept;
}

size_t announce_survey_machines(struct nl *nl, const struct announce_survey *survey,
				const struct announce_device *port, struct fdb_entry **ret_machines,
				uint16_t *ret_tag_protocol)
{
	const struct announce_device *bridge = survey_find(survey, port->bridge);
	struct machines machines = { .survey = survey, .port = port };

	*ret_machines = NULL;
	if (!port->forwards || !bridge || !bridge->is_above)
		return 0;
	*ret_tag_protocol = bridge->filters_vlans;
	machines_read_vlans(nl, bridge, &machines);
	fdb_visit(nl, bridge->ifindex, machines_take, &machines);
	machines.count = survey_sort(machines.entry, machines.count, sizeof(*machines.entry),
				     machines_compare);
	*ret_machines = machines.entry;
	return machines_keep(&machines);
}
