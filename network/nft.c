/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>
#include <unistd.h>

#include "network/nl.h"
#include "network/nl_attr.h"
#include "network/nl_request.h"

#define DEVICE_PREFIX 2 /* NFTA_DEVICE_PREFIX of Linux 6.18: names that begin with this */

struct search {
	const char *device;
	bool found;
};

/* Asking a kernel whose nftables module is not loaded would load it. */
static bool nft_is_loaded(void)
{
	return !access("/sys/module/nf_tables", F_OK) || access("/proc/modules", F_OK);
}

static bool nft_is_ingress(unsigned int family, struct nlattr *const hook[])
{
	uint32_t number = ntohl(nl_attr_u32(hook[NFTA_HOOK_HOOKNUM], UINT32_MAX));

	return (family == NFPROTO_NETDEV && number == NF_NETDEV_INGRESS) ||
	       (family == NFPROTO_INET && number == NF_INET_INGRESS);
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
	struct search *search = arg;

	hooks = nlmsg_find_attr(message, sizeof(*chain), NFTA_CHAIN_HOOK);
	if (!hooks || nla_parse_nested(hook, NFTA_HOOK_MAX, hooks, NULL) < 0 ||
	    !hook[NFTA_HOOK_DEVS])
		return;
	search->found |= nft_is_ingress(chain->nfgen_family, hook) &&
			 nft_names(hook[NFTA_HOOK_DEVS], search->device);
}

static void nft_dump(struct nl *nl, unsigned char family, struct search *search)
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

bool nft_has_ingress(const char *device)
{
	struct search search = { .device = device };
	struct nl nl;

	if (!nft_open(&nl))
		return false;
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
