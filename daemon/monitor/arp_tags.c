/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/arp_tags.h"

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
