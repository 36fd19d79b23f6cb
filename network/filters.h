/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TC filters on a device's clsact qdisc, without libbpf. */
#ifndef XBOND_NETWORK_FILTERS_H
#define XBOND_NETWORK_FILTERS_H

#include <stdbool.h>

#include "network/nl.h"

struct filter_place {
	int ifindex;
	unsigned int handle, priority;
};

/* The number of filters at both hooks of clsact, or -errno. */
int filters_count(struct nl *nl, int ifindex);
/*
 * An ingress qdisc stands in the place of clsact. It takes filters for egress as well and runs them
 * at ingress. Returns 1 or 0, or -errno if that cannot be found out.
 */
int filters_has_ingress(struct nl *nl, int ifindex);
/* Is there a clsact qdisc, or an ingress qdisc in its place? Returns the same. */
int filters_has_clsact(struct nl *nl, int ifindex);
/*
 * Do filters at clsact's egress come after this one, or share its preference? (Only chain 0 counts:
 * its first filter chooses the chain.) True also if that cannot be found out.
 */
bool filters_follow(struct nl *nl, const struct filter_place *place);
struct filters_others {
	bool any;
	/* Is it in a block that devices share? There, a filter cannot be for one device alone. */
	bool shared;
};
/*
 * The filters at the device's ingress, by clsact or an ingress qdisc, except xbond's own BPF
 * classifiers. Returns 0 or -errno.
 */
int filters_look(struct nl *nl, int ifindex,
		 bool (*is_ours)(unsigned int priority, unsigned int handle),
		 struct filters_others *ret_others);
int filters_delete_clsact(struct nl *nl, int ifindex);
/*
 * At the device's ingress: frames that the program matches (-1) go to target's ingress by
 * act_mirred; for others (0) the next filter is asked. Replaces the filter with this handle and
 * priority.
 */
int filters_add_mirred(struct nl *nl, const struct filter_place *place, int program_fd, int target,
		       struct err *err);

#endif
