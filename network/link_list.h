/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All devices of the namespace at once, for questions about which device is on which. */
#ifndef XBOND_NETWORK_LINK_LIST_H
#define XBOND_NETWORK_LINK_LIST_H

#include "network/link.h"

struct link_list {
	struct link_info *link;
	size_t count;
};

/* Returns 0 or -errno. Free it with link_list_free() in either case. */
int link_list_read(struct nl *nl, struct link_list *ret_list);
void link_list_free(struct link_list *list);

/* NULL: there is none. */
static inline struct link_info *link_list_find(const struct link_list *list, int ifindex)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->link[i].ifindex == ifindex)
			return &list->link[i];
	return NULL;
}

/* IFLA_LINK of a veth or netkit is its peer; of any other device it is the device below. */
static inline bool link_has_lower(const struct link_info *link)
{
	return link->lower && !link_is_paired(link) &&
	       (link->lower_nsid >= 0 || link->lower != link->ifindex);
}

/* A vxlan that ends with this device, as if it were on it. */
static inline bool link_sends_by(const struct link_info *link, int lower)
{
	return link->tunnel == lower && link->lower_nsid < 0;
}

static inline bool link_is_on(const struct link_info *link, int lower)
{
	return link_has_lower(link) && link->lower == lower && link->lower_nsid < 0;
}

#endif
