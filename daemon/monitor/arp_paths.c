/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/arp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "daemon/bond/daemon.h"
#include "network/ip.h"
#include "network/link.h"

#define MAX_DEPTH 8 /* as many devices may be on each other, as in the kernel */

struct arp_descent {
	const struct link_list *links;
	int bond;
	struct arp_tags *tags;
};

/* On the way back up, so the tag of the lowest VLAN, which is the outermost, comes first. */
static bool arp_tags_add(struct arp_tags *tags, const struct link_info *link)
{
	if (link->vlan_id < 0)
		return true;
	if (tags->count == ARP_MAX_TAGS)
		return false;
	tags->tag[tags->count++] =
		(struct arp_tag){ .protocol = link->vlan_protocol, .id = (uint16_t)link->vlan_id };
	return true;
}

static bool arp_tags_go_down(const struct arp_descent *descent, int ifindex, unsigned int depth)
{
	const struct link_info *link = link_list_find(descent->links, ifindex);

	if (ifindex == descent->bond)
		return true;
	if (!link || depth == MAX_DEPTH)
		return false;
	if (link_has_lower(link) && link->lower_nsid < 0)
		return arp_tags_go_down(descent, link->lower, depth + 1) &&
		       arp_tags_add(descent->tags, link);
	for (size_t i = 0; i < descent->links->count; i++)
		if (descent->links->link[i].master == ifindex &&
		    arp_tags_go_down(descent, descent->links->link[i].ifindex, depth + 1))
			return true;
	return false;
}

bool arp_tags_to_bond(const struct link_list *links, int ifindex, int bond,
		      struct arp_tags *ret_tags)
{
	const struct arp_descent descent = { .links = links, .bond = bond, .tags = ret_tags };

	*ret_tags = (struct arp_tags){ 0 };
	return arp_tags_go_down(&descent, ifindex, 0);
}

/* The thread, which knows no bonds. */

struct arp_query {
	uint32_t bond;				   /* a number that the caller chooses */
	int ifindex;				   /* of bond0 */
	int nsid;				   /* its namespace; -1: this one */
	uint8_t target[XBOND_PROBE_TARGETS][16];   /* as in struct xbond_probes */
	struct arp_path path[XBOND_PROBE_TARGETS]; /* the answers, if result is 0 */
	int result;
	bool is_dear; /* another namespace was looked for, or all devices were read */
};

/* What one query needs of the namespace that it is about. */
struct arp_survey {
	struct nl *nl;
	struct arp_query *query;
	struct link_list links;
	bool has_links;
};

static const uint8_t no_address[16];

/* The route leads over another device than bond0: is that one on bond0? */
static void arp_paths_go_down(struct arp_survey *survey, int ifindex, struct arp_path *path)
{
	const struct link_info *link;

	survey->query->is_dear = true;
	if (!survey->has_links)
		survey->has_links = !link_list_read(survey->nl, &survey->links);
	link = link_list_find(&survey->links, ifindex);
	path->leads = link && arp_tags_to_bond(&survey->links, ifindex, survey->query->ifindex,
					       &path->tags);
	if (path->leads && link->has_mac)
		memcpy(path->mac, link->mac, XBOND_MAC_SIZE);
}

/*
 * Link-local addresses are looked for on bond0. Without a route, a probe without a sender goes out
 * of bond0 itself: where frames are not validated, it may bring some.
 */
static void arp_paths_find(struct arp_survey *survey, unsigned int i)
{
	const struct arp_query *query = survey->query;
	const uint8_t *target = query->target[i];
	bool is_ipv6 = i >= XBOND_MAX_TARGETS;
	bool is_link_local = is_ipv6 && target[0] == 0xfe && (target[1] & 0xc0) == 0x80;
	struct arp_path *path = &survey->query->path[i];
	struct route route;

	*path = (struct arp_path){ 0 };
	if (!memcmp(target, no_address, sizeof(no_address)))
		return;
	path->leads = true;
	if (route_get(survey->nl, is_ipv6 ? AF_INET6 : AF_INET, target,
		      is_link_local ? query->ifindex : 0, &route))
		return;
	memcpy(path->source, route.source, sizeof(path->source));
	if (route.ifindex != query->ifindex)
		arp_paths_go_down(survey, route.ifindex, path);
}

static int arp_paths_survey(struct nl *nl, const void *arg)
{
	struct arp_survey survey = { .nl = nl, .query = *(struct arp_query *const *)arg };

	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		arp_paths_find(&survey, i);
	link_list_free(&survey.links);
	return 0;
}

static void arp_paths_answer(struct asker *asker, void *question)
{
	struct arp_query *query = question;

	query->is_dear = query->nsid >= 0;
	query->result = netns_call_in_thread(&asker->nl, query->nsid, arp_paths_survey, &query);
}

const struct asker_kind arp_paths_kind = {
	.name = "arp",
	.size = sizeof(struct arp_query),
	.ask = arp_paths_answer,
};

/* What it is asked, and what bonds take of its answers. */

/* How often the way to the targets is looked for again. */
#define PATHS_NS (200 * NS_PER_MS)
#define PATHS_DEAR_NS (2000 * NS_PER_MS)

void arp_paths_target(struct bond *bond, unsigned int i, uint8_t ret_address[16])
{
	const struct xbond_bond *pin = bond_pin(bond);

	memset(ret_address, 0, 16);
	if (i < XBOND_MAX_TARGETS)
		memcpy(ret_address, &pin->arp_ip_target[i], 4);
	else
		memcpy(ret_address, pin->ns_ip6_target[i - XBOND_MAX_TARGETS], 16);
}

static bool arp_paths_are_due(struct bond *bond, uint64_t now_ns)
{
	const struct arp_paths *paths = arp_paths_of(bond);

	return paths && bond_is_ready(bond) && !bond_is_meanwhile(bond) &&
	       (!paths->asked_ns ||
		now_ns >= paths->asked_ns + (paths->are_dear ? PATHS_DEAR_NS : PATHS_NS));
}

static void arp_paths_fill_query(struct bond *bond, struct arp_query *query)
{
	const struct xbond_bond *pin = bond_pin(bond);

	*query = (struct arp_query){
		.bond = pin->port_ifindex,
		.ifindex = (int)pin->ifindex,
		.nsid = pin->netnsid,
	};
	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		arp_paths_target(bond, i, query->target[i]);
}

void arp_paths_ask(struct daemon *daemon, uint64_t now_ns)
{
	struct arp_query *queries = NULL;
	size_t count = 0;

	if (daemon->arp_paths->busy)
		return;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!arp_paths_are_due(bond, now_ns))
			continue;
		memory_more(queries, count);
		arp_paths_fill_query(bond, &queries[count++]);
		arp_paths_of(bond)->asked_ns = now_ns;
	}
	asker_ask(daemon->arp_paths, queries, count);
	free(queries);
}

/*
 * Answers about other targets, which the bond had before, are of no use. The first ones are waited
 * for.
 */
static void arp_paths_take_answer(struct bond *bond, const struct arp_query *answer)
{
	struct arp_paths *paths = arp_paths_of(bond);
	struct arp_query asked_now;

	paths->are_dear = answer->is_dear;
	arp_paths_fill_query(bond, &asked_now);
	if (answer->result)
		return;
	if (memcmp(answer->target, asked_now.target, sizeof(answer->target))) {
		paths->asked_ns = 0;
		return;
	}
	memcpy(paths->path, answer->path, sizeof(paths->path));
	if (!paths->are_known)
		arp_begin(bond);
	paths->are_known = true;
}

void arp_paths_take(struct daemon *daemon)
{
	size_t count;
	const struct arp_query *answers = asker_answers(daemon->arp_paths, &count);

	for (size_t i = 0; i < count; i++)
		for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
			if (arp_paths_of(bond) && bond_pin(bond)->port_ifindex == answers[i].bond)
				arp_paths_take_answer(bond, &answers[i]);
}
