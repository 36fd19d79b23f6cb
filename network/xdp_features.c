/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/xdp_features.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdbool.h>

#include "network/genl.h"
#include "network/nl_request.h"

/* From Linux 6.3; the headers of Debian bookworm do not have it. */
#define FAMILY "netdev"
#define COMMAND_DEV_GET 1
#define ATTRIBUTE_IFINDEX 1
#define ATTRIBUTE_XDP_FEATURES 3

struct answer {
	uint64_t features;
	bool is_there;
};

static void xdp_features_take(struct nlmsghdr *message, void *arg)
{
	struct nlattr *found = nlmsg_find_attr(message, GENL_HDRLEN, ATTRIBUTE_XDP_FEATURES);
	struct answer *answer = arg;

	if (!found || nla_len(found) < (int)sizeof(answer->features))
		return;
	answer->features = nla_get_u64(found);
	answer->is_there = true;
}

static int xdp_features_ask(struct nl *nl, uint16_t family, int ifindex, uint64_t *ret_features)
{
	struct nl_msg *msg = genl_new_request(family, COMMAND_DEV_GET);
	struct answer answer = { 0 };
	int r;

	nl_request_put_u32(msg, ATTRIBUTE_IFINDEX, (uint32_t)ifindex);
	r = nl_call(nl, msg, xdp_features_take, &answer, NULL);
	*ret_features = answer.features;
	return r || answer.is_there ? r : -ENOENT;
}

int xdp_features_get(int ifindex, uint64_t *ret_features)
{
	uint16_t family;
	struct nl nl;
	int r = nl_init_generic(&nl);

	if (r)
		return r;
	r = genl_find_family(&nl, FAMILY, &family);
	if (!r)
		r = xdp_features_ask(&nl, family, ifindex, ret_features);
	nl_done(&nl);
	return r;
}
