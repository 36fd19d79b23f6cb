/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/genl.h"

#include <errno.h>
#include <linux/genetlink.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

struct nl_msg *genl_new_request(uint16_t family, uint8_t command)
{
	struct genlmsghdr head = { .cmd = command, .version = 1 };

	return nl_request_new(family, 0, &head, sizeof(head));
}

static void genl_take_family(struct nlmsghdr *message, void *arg)
{
	uint16_t *family = arg;

	*family = nl_attr_u16(nlmsg_find_attr(message, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID), *family);
}

int genl_find_family(struct nl *nl, const char *name, uint16_t *ret_family)
{
	struct nl_msg *msg = genl_new_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	int r;

	*ret_family = 0;
	nl_request_put_text(msg, CTRL_ATTR_FAMILY_NAME, name);
	r = nl_call(nl, msg, genl_take_family, ret_family, NULL);
	return r || *ret_family ? r : -ENOENT;
}
