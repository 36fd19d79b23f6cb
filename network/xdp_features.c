/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/xdp_features.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdbool.h>

#include "network/nl.h"
#include "network/nl_attr.h"

/* From Linux 6.3; the headers of Debian bookworm do not have it. */
#define FAMILY "netdev"
#define COMMAND_DEV_GET 1
#define ATTRIBUTE_IFINDEX 1
#define ATTRIBUTE_XDP_FEATURES 3

struct answer {
	int attribute;
	uint64_t value;
	bool is_there;
};

static struct nl_msg *xdp_features_new_request(uint16_t family, uint8_t command)
{
	struct nl_msg *msg = nlmsg_alloc_simple(family, NLM_F_REQUEST);
	struct genlmsghdr head = { .cmd = command, .version = 1 };

	if (msg && nlmsg_append(msg, &head, sizeof(head), NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

static void xdp_features_take_number(struct nlmsghdr *message, void *arg)
{
	struct answer *answer = arg;
	struct nlattr *found = nlmsg_find_attr(message, GENL_HDRLEN, answer->attribute);

	if (!found)
		return;
	answer->value = nla_len(found) >= (int)sizeof(uint64_t) ? nla_get_u64(found)
								: nl_attr_u16(found, 0);
	answer->is_there = true;
}

static int xdp_features_ask(struct nl *nl, struct nl_msg *msg, int attribute, uint64_t *ret_value)
{
	struct answer answer = { .attribute = attribute };
	int r = nl_call(nl, msg, xdp_features_take_number, &answer, NULL);

	*ret_value = answer.value;
	return r || answer.is_there ? r : -ENOENT;
}

static int xdp_features_find_family(struct nl *nl, uint64_t *ret_family)
{
	struct nl_msg *msg = xdp_features_new_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

	if (!msg || nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, FAMILY)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return xdp_features_ask(nl, msg, CTRL_ATTR_FAMILY_ID, ret_family);
}

static int xdp_features_ask_device(struct nl *nl, uint16_t family, int ifindex,
				   uint64_t *ret_features)
{
	struct nl_msg *msg = xdp_features_new_request(family, COMMAND_DEV_GET);

	if (!msg || nla_put_u32(msg, ATTRIBUTE_IFINDEX, (uint32_t)ifindex)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return xdp_features_ask(nl, msg, ATTRIBUTE_XDP_FEATURES, ret_features);
}

int xdp_features_get(int ifindex, uint64_t *ret_features)
{
	uint64_t family;
	struct nl nl;
	int r = nl_init_generic(&nl);

	if (r)
		return r;
	r = xdp_features_find_family(&nl, &family);
	if (!r)
		r = xdp_features_ask_device(&nl, (uint16_t)family, ifindex, ret_features);
	nl_done(&nl);
	return r;
}
