/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/nl_request.h"

#include <string.h>
#include <unistd.h>

#include "common/memory.h"

/* libnl keeps nothing for us in a message, and no request is of this type. */
static void nl_request_cut(struct nl_msg *msg)
{
	nlmsg_hdr(msg)->nlmsg_type = NLMSG_OVERRUN;
}

bool nl_request_is_cut(struct nl_msg *msg)
{
	return nlmsg_hdr(msg)->nlmsg_type == NLMSG_OVERRUN;
}

static struct nl_msg *nl_request_make(size_t room, int type, int flags, const void *head,
				      size_t size)
{
	struct nl_msg *msg = memory_need(nlmsg_alloc_size(room));

	nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, NLM_F_REQUEST | flags);
	nl_request_append(msg, head, size);
	return msg;
}

struct nl_msg *nl_request_new(int type, int flags, const void *head, size_t size)
{
	return nl_request_make((size_t)getpagesize(), type, flags, head, size);
}

struct nl_msg *nl_request_new_large(int type, int flags, const void *head, size_t size)
{
	return nl_request_make(NL_REQUEST_LARGE, type, flags, head, size);
}

struct nl_msg *nl_request_copy(const struct nlmsghdr *request)
{
	return memory_need(nlmsg_convert((struct nlmsghdr *)request));
}

void nl_request_append(struct nl_msg *msg, const void *data, size_t size)
{
	if (nlmsg_append(msg, (void *)data, size, NLMSG_ALIGNTO) < 0)
		nl_request_cut(msg);
}

void nl_request_put(struct nl_msg *msg, int attribute, int size, const void *data)
{
	if (nla_put(msg, attribute, size, data) < 0)
		nl_request_cut(msg);
}

void nl_request_put_u8(struct nl_msg *msg, int attribute, uint8_t value)
{
	nl_request_put(msg, attribute, sizeof(value), &value);
}

void nl_request_put_u16(struct nl_msg *msg, int attribute, uint16_t value)
{
	nl_request_put(msg, attribute, sizeof(value), &value);
}

void nl_request_put_u32(struct nl_msg *msg, int attribute, uint32_t value)
{
	nl_request_put(msg, attribute, sizeof(value), &value);
}

void nl_request_put_s32(struct nl_msg *msg, int attribute, int32_t value)
{
	nl_request_put(msg, attribute, sizeof(value), &value);
}

void nl_request_put_text(struct nl_msg *msg, int attribute, const char *text)
{
	nl_request_put(msg, attribute, (int)strlen(text) + 1, text);
}

struct nlattr *nl_request_nest(struct nl_msg *msg, int attribute)
{
	struct nlattr *nest = nla_nest_start(msg, attribute);

	if (!nest)
		nl_request_cut(msg);
	return nest;
}

void nl_request_end(struct nl_msg *msg, struct nlattr *nest)
{
	if (!nest || nla_nest_end(msg, nest) < 0)
		nl_request_cut(msg);
}
