/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes packets at a device's hooks: TC filters at its clsact qdisc, without libbpf, and
 * chains of nftables.
 */
#ifndef XBOND_NETWORK_FILTERS_H
#define XBOND_NETWORK_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "network/nl.h"

/* TC filters. */

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
bool filters_are_behind(struct nl *nl, const struct filter_place *place);
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
/* nftables, only for reading. */

#define NFT_AT_INGRESS 0x1 /* of family netdev or inet */
#define NFT_AT_EGRESS 0x2

/* NFT_AT_*: where the device has chains. 0 if this cannot be found out. */
uint32_t nft_chains_on(const char *device);
/*
 * A number that changes with every change of the rules; 0 if it cannot be found out. It takes one
 * small request.
 */
uint32_t nft_generation(void);

#endif
