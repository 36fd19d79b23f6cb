/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TC filters on a device's clsact qdisc, other than through libbpf. */
#ifndef XBOND_DAEMON_NET_FILTERS_H
#define XBOND_DAEMON_NET_FILTERS_H

#include <stdbool.h>

#include "daemon/net/nl.h"

struct filter_place {
	int ifindex;
	unsigned int handle, priority;
};

/* Number of filters at both hooks of clsact, or -errno. */
int filters_count(struct nl *nl, int ifindex);
/*
 * An ingress qdisc stands where clsact would, takes filters for egress as well, and runs them at
 * ingress.
 */
bool filters_has_ingress(struct nl *nl, int ifindex);
/* Is there a clsact qdisc, or an ingress one in its place? */
bool filters_has_clsact(struct nl *nl, int ifindex);
/*
 * Do filters of clsact's egress come after this one, or share its preference? (In chain 0: from
 * there, who comes first chooses.)
 */
bool filters_follow(struct nl *nl, const struct filter_place *place);
struct filters_others {
	bool any;
	/* In a block that devices share: a filter cannot be put there for one of them. */
	bool shared;
};
/*
 * Filters at the device's ingress, by clsact or an ingress qdisc, but BPF classifiers that are
 * ours. 0 or -errno.
 */
int filters_look(struct nl *nl, int ifindex,
		 bool (*is_ours)(unsigned int priority, unsigned int handle),
		 struct filters_others *ret_others);
int filters_delete_clsact(struct nl *nl, int ifindex);
/*
 * On the device's ingress: what the program matches (-1) goes to target's ingress by act_mirred,
 * for the rest (0) the next filter is asked. Replaces the one of this handle and priority.
 */
int filters_add_mirred(struct nl *nl, const struct filter_place *place, int program_fd, int target,
		       struct err *err);

#endif
