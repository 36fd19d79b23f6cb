/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/filters.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network/nl.h"

/* TC filters. */

#define DUMP_TRIES 5

static struct nl_msg *filters_request(int type, int flags, int ifindex, unsigned int parent)
{
	struct tcmsg tc = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent };
	struct nl_msg *msg = nl_request_new(type, flags, &tc, sizeof(tc));

	return msg;
}

static void filters_count_one(struct nlmsghdr *message, void *arg)
{
	struct tcmsg *tc = nlmsg_data(message);
	int *count = arg;

	/* A dump also has one message for each chain and priority, without a handle. */
	if (message->nlmsg_type == RTM_NEWTFILTER && nlmsg_valid_hdr(message, sizeof(*tc)) &&
	    tc->tcm_handle)
		++*count;
}

int filters_count(struct nl *nl, int ifindex)
{
	static const unsigned int parents[] = {
		TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
		TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS),
	};
	int count = 0, r;

	for (int i = 0; i < 2; i++) {
		r = nl_call(nl, filters_request(RTM_GETTFILTER, NLM_F_DUMP, ifindex, parents[i]),
			    filters_count_one, &count, NULL);
		if (r < 0)
			return r;
	}
	return count;
}

int filters_delete_clsact(struct nl *nl, int ifindex)
{
	return nl_call(nl, filters_request(RTM_DELQDISC, 0, ifindex, TC_H_CLSACT), NULL, NULL,
		       NULL);
}

struct filters_search {
	int ifindex;
	const char *kind; /* NULL: any */
	bool found;
};

static void filters_find_ingress(struct nlmsghdr *message, void *arg)
{
	struct tcmsg *tc = nlmsg_data(message);
	struct nlattr *kind = nlmsg_find_attr(message, sizeof(*tc), TCA_KIND);
	struct filters_search *search = arg;

	if (message->nlmsg_type == RTM_NEWQDISC && nlmsg_valid_hdr(message, sizeof(*tc)) &&
	    tc->tcm_ifindex == search->ifindex && tc->tcm_parent == TC_H_INGRESS && kind &&
	    (!search->kind || nl_attr_is(kind, search->kind)))
		search->found = true;
}

static int filters_search_ingress(struct nl *nl, int ifindex, const char *kind)
{
	struct filters_search search = { .ifindex = ifindex, .kind = kind };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++)
		r = nl_call(nl, filters_request(RTM_GETQDISC, NLM_F_DUMP, ifindex, 0),
			    filters_find_ingress, &search, NULL);
	return search.found ? 1 : r;
}

int filters_has_ingress(struct nl *nl, int ifindex)
{
	return filters_search_ingress(nl, ifindex, "ingress");
}

int filters_has_clsact(struct nl *nl, int ifindex)
{
	return filters_search_ingress(nl, ifindex, NULL);
}

struct behind {
	const struct filter_place *place;
	bool found;
};

static void filters_find_behind(struct nlmsghdr *message, void *arg)
{
	struct tcmsg *tc = nlmsg_data(message);
	struct nlattr *chain = nlmsg_find_attr(message, sizeof(*tc), TCA_CHAIN);
	struct behind *behind = arg;
	unsigned int priority;

	if (message->nlmsg_type != RTM_NEWTFILTER || !nlmsg_valid_hdr(message, sizeof(*tc)) ||
	    !tc->tcm_handle || nl_attr_u32(chain, 0))
		return;
	priority = TC_H_MAJ(tc->tcm_info) >> 16;
	if (priority > behind->place->priority ||
	    (priority == behind->place->priority && tc->tcm_handle != behind->place->handle))
		behind->found = true;
}

bool filters_are_behind(struct nl *nl, const struct filter_place *place)
{
	struct behind behind = { .place = place };
	int r = nl_call(nl,
			filters_request(RTM_GETTFILTER, NLM_F_DUMP, place->ifindex,
					TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)),
			filters_find_behind, &behind, NULL);

	return (r || behind.found) && filters_has_ingress(nl, place->ifindex) <= 0;
}

struct look {
	bool (*is_ours)(unsigned int priority, unsigned int handle);
	struct filters_others *others;
};

static void filters_look_at_one(struct nlmsghdr *message, void *arg)
{
	struct tcmsg *tc = nlmsg_data(message);
	struct nlattr *kind = nlmsg_find_attr(message, sizeof(*tc), TCA_KIND);
	struct look *look = arg;

	if (message->nlmsg_type != RTM_NEWTFILTER || !nlmsg_valid_hdr(message, sizeof(*tc)) ||
	    !tc->tcm_handle ||
	    (nl_attr_is(kind, "bpf") &&
	     look->is_ours(TC_H_MAJ(tc->tcm_info) >> 16, tc->tcm_handle)))
		return;
	look->others->any = true;
	look->others->shared |= (unsigned int)tc->tcm_ifindex == TCM_IFINDEX_MAGIC_BLOCK;
}

int filters_look(struct nl *nl, int ifindex,
		 bool (*is_ours)(unsigned int priority, unsigned int handle),
		 struct filters_others *ret_others)
{
	struct look look = { .is_ours = is_ours, .others = ret_others };

	*ret_others = (struct filters_others){ 0 };
	return nl_call(nl,
		       filters_request(RTM_GETTFILTER, NLM_F_DUMP, ifindex,
				       TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)),
		       filters_look_at_one, &look, NULL);
}

/* Chains of nftables. */

#define DEVICE_PREFIX 2 /* NFTA_DEVICE_PREFIX of Linux 6.18: names that begin with this */

struct nft_search {
	const char *device;
	uint32_t found; /* NFT_AT_* */
};

/* Asking a kernel whose nftables module is not loaded would load it. */
static bool nft_is_loaded(void)
{
	return !access("/sys/module/nf_tables", F_OK) || access("/proc/modules", F_OK);
}

static uint32_t nft_place(unsigned int family, struct nlattr *const hook[])
{
	uint32_t number = ntohl(nl_attr_u32(hook[NFTA_HOOK_HOOKNUM], UINT32_MAX));

	if (family == NFPROTO_NETDEV && number == NF_NETDEV_EGRESS)
		return NFT_AT_EGRESS;
	return (family == NFPROTO_NETDEV && number == NF_NETDEV_INGRESS) ||
			       (family == NFPROTO_INET && number == NF_INET_INGRESS)
		       ? NFT_AT_INGRESS
		       : 0;
}

static bool nft_names(struct nlattr *devices, const char *device)
{
	struct nlattr *name;
	int left;

	nla_for_each_nested (name, devices, left) {
		const char *text = nl_attr_text(name);

		if (nla_type(name) == NFTA_DEVICE_NAME && text && !strcmp(text, device))
			return true;
		if (nla_type(name) == DEVICE_PREFIX && text && !strncmp(device, text, strlen(text)))
			return true;
	}
	return false;
}

static void nft_look_at_chain(struct nlmsghdr *message, void *arg)
{
	struct nfgenmsg *chain = nlmsg_data(message);
	struct nlattr *hooks, *hook[NFTA_HOOK_MAX + 1];
	struct nft_search *search = arg;

	hooks = nlmsg_find_attr(message, sizeof(*chain), NFTA_CHAIN_HOOK);
	if (!hooks || nla_parse_nested(hook, NFTA_HOOK_MAX, hooks, NULL) < 0 ||
	    !hook[NFTA_HOOK_DEVS] || !nft_names(hook[NFTA_HOOK_DEVS], search->device))
		return;
	search->found |= nft_place(chain->nfgen_family, hook);
}

static void nft_dump(struct nl *nl, unsigned char family, struct nft_search *search)
{
	struct nfgenmsg chains = { .nfgen_family = family, .version = NFNETLINK_V0 };
	struct nl_msg *msg = nl_request_new(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
					    NLM_F_DUMP, &chains, sizeof(chains));

	nl_call(nl, msg, nft_look_at_chain, search, NULL);
}

static bool nft_open(struct nl *nl)
{
	if (!nft_is_loaded())
		return false;
	nl->is_generic = true; /* its messages are not those of rtnetlink */
	nl->sock = nl_socket_alloc();
	if (nl->sock && nl_connect(nl->sock, NETLINK_NETFILTER) >= 0)
		return true;
	nl_done(nl);
	return false;
}

uint32_t nft_chains_on(const char *device)
{
	struct nft_search search = { .device = device };
	struct nl nl;

	if (!nft_open(&nl))
		return 0;
	nft_dump(&nl, NFPROTO_NETDEV, &search);
	nft_dump(&nl, NFPROTO_INET, &search);
	nl_done(&nl);
	return search.found;
}

static void nft_take_generation(struct nlmsghdr *message, void *arg)
{
	struct nlattr *id = nlmsg_find_attr(message, sizeof(struct nfgenmsg), NFTA_GEN_ID);
	uint32_t *generation = arg;

	*generation = ntohl(nl_attr_u32(id, htonl(*generation)));
}

uint32_t nft_generation(void)
{
	struct nfgenmsg none = { .version = NFNETLINK_V0 };
	uint32_t generation = 0;
	struct nl nl;

	if (!nft_open(&nl))
		return 0;
	nl_call(&nl,
		nl_request_new(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN, 0, &none, sizeof(none)),
		nft_take_generation, &generation, NULL);
	nl_done(&nl);
	return generation;
}
