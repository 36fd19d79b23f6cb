/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"

/* Requests. */

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

/* Values. */

static bool nl_attr_has(const struct nlattr *attribute, size_t size)
{
	return attribute && nla_len(attribute) >= (int)size;
}

uint32_t nl_attr_u32(const struct nlattr *attribute, uint32_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint32_t)) ? nla_get_u32(attribute) : otherwise;
}

uint16_t nl_attr_u16(const struct nlattr *attribute, uint16_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint16_t)) ? nla_get_u16(attribute) : otherwise;
}

uint8_t nl_attr_u8(const struct nlattr *attribute, uint8_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint8_t)) ? nla_get_u8(attribute) : otherwise;
}

const char *nl_attr_text(const struct nlattr *attribute)
{
	if (!nl_attr_has(attribute, 1) ||
	    !memchr(nla_data(attribute), '\0', (size_t)nla_len(attribute)))
		return NULL;
	return nla_get_string(attribute);
}

bool nl_attr_is(const struct nlattr *attribute, const char *text)
{
	const char *found = nl_attr_text(attribute);

	return found && !strcmp(found, text);
}

/* The socket. */

#define NL_MAX_ERRNO 4095 /* the kernel's MAX_ERRNO */
#define NL_TRIES 3	  /* of what fails for want of memory */

struct call {
	nl_handler handler;
	void *arg;
	struct err *err;
	int result;
	int interrupted;
	int finished;
	int unsent; /* the kernel knows nothing of the request */
	int failed; /* how often nothing could be received */
};

static int nl_open(struct nl *nl, int protocol)
{
	int on = 1, r;

	nl->sock = nl_socket_alloc();
	if (!nl->sock)
		return -ENOMEM;
	r = nl_connect(nl->sock, protocol);
	if (r < 0) {
		nl_done(nl);
		return -ECONNREFUSED;
	}
	nl_socket_set_buffer_size(nl->sock, 1 << 20, 2 * NL_REQUEST_LARGE);
	setsockopt(nl_socket_get_fd(nl->sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	return 0;
}

int nl_init(struct nl *nl)
{
	nl->is_generic = false;
	return nl_open(nl, NETLINK_ROUTE);
}

int nl_init_generic(struct nl *nl)
{
	nl->is_generic = true;
	return nl_open(nl, NETLINK_GENERIC);
}

int nl_init_diag(struct nl *nl)
{
	nl->is_generic = false;
	return nl_open(nl, NETLINK_SOCK_DIAG);
}

void nl_done(struct nl *nl)
{
	nl_socket_free(nl->sock);
	nl->sock = NULL;
}

/* The text attribute behind an error message, or NULL (NETLINK_EXT_ACK). */
static const char *nl_extack_text(struct nlmsghdr *header)
{
	struct nlmsgerr *error = nlmsg_data(header);
	size_t skip = sizeof(*error);

	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(error->msg.nlmsg_len - NLMSG_HDRLEN);
	if ((size_t)nlmsg_datalen(header) <= skip)
		return NULL;
	return nl_attr_text(nla_find((struct nlattr *)((char *)nlmsg_data(header) + skip),
				     nlmsg_datalen(header) - (int)skip, NLMSGERR_ATTR_MSG));
}

static void nl_finish(struct call *call, int result, const char *text)
{
	call->finished = 1;
	call->result = result;
	if (result < 0)
		err_set(call->err, -result, "%s", text && *text ? text : strerror(-result));
}

static void nl_finish_by(struct call *call, struct nlmsghdr *header)
{
	struct nlmsgerr *error = nlmsg_data(header);

	if (nlmsg_valid_hdr(header, sizeof(*error)) && error->error <= 0 &&
	    error->error >= -NL_MAX_ERRNO)
		nl_finish(call, error->error, nl_extack_text(header));
	else
		nl_finish(call, -EPROTO, NULL);
}

/* Lists that the kernel could not finish end so, too, with its -errno. */
static void nl_finish_list(struct call *call, struct nlmsghdr *header)
{
	int result = 0;

	if (nlmsg_valid_hdr(header, sizeof(result)))
		memcpy(&result, nlmsg_data(header), sizeof(result));
	nl_finish(call, result > 0 || result < -NL_MAX_ERRNO ? -EPROTO : result, NULL);
}

static void nl_take(struct call *call, struct nlmsghdr *header)
{
	if (header->nlmsg_flags & NLM_F_DUMP_INTR)
		call->interrupted = 1;
	if (header->nlmsg_type == NLMSG_ERROR)
		nl_finish_by(call, header);
	else if (header->nlmsg_type == NLMSG_DONE)
		nl_finish_list(call, header);
	else if (call->handler)
		call->handler(header, call->arg);
}

/* The kernel answers while a request is sent or a part of a list is received, so not later. */
static bool nl_has_answer(struct nl *nl)
{
	struct pollfd pollfd = { .fd = nl_socket_get_fd(nl->sock), .events = POLLIN };

	return poll(&pollfd, 1, 0) > 0 && pollfd.revents & POLLIN;
}

/*
 * Reads one datagram. Messages with other sequence numbers are left over from a call that failed.
 */
static void nl_receive(struct nl *nl, struct call *call, unsigned int sequence)
{
	struct sockaddr_nl from;
	unsigned char *buffer = NULL;
	int length, left;

	/* What was lost may be the last message. */
	if (call->failed && (call->failed >= NL_TRIES || !nl_has_answer(nl))) {
		nl_finish(call, -EIO, "the kernel does not answer on netlink");
		return;
	}
	length = left = nl_recv(nl->sock, &from, &buffer, NULL);
	if (length <= 0) {
		call->failed++;
		return;
	}
	for (struct nlmsghdr *header = (struct nlmsghdr *)buffer;
	     nlmsg_ok(header, left) && !call->finished; header = nlmsg_next(header, &left))
		if (header->nlmsg_seq == sequence)
			nl_take(call, header);
	free(buffer);
}

static void nl_ask(struct nl *nl, struct nl_msg *msg, struct call *call)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);

	header->nlmsg_seq = NL_AUTO_SEQ;
	nl_complete_msg(nl->sock, msg);
	if (nl_send(nl->sock, msg) < 0) {
		call->unsent = 1;
		nl_finish(call, -EIO, "netlink request could not be sent");
	}
	while (!call->finished)
		nl_receive(nl, call, header->nlmsg_seq);
}

/* Asking twice must change nothing, and the handler must not get a part of a list twice. */
static bool nl_may_repeat(const struct nl *nl, const struct nlmsghdr *header,
			  const struct call *call)
{
	bool is_transient =
		call->result == -EIO || call->result == -ENOBUFS || call->result == -ENOMEM;
	bool only_reads = !nl->is_generic && header->nlmsg_type >= RTM_BASE &&
			  (header->nlmsg_type - RTM_BASE) % 4 == RTM_GETLINK - RTM_BASE &&
			  !(header->nlmsg_flags & NLM_F_DUMP);

	return call->unsent || (is_transient && only_reads);
}

int nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg, struct err *err)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	bool is_dump = header->nlmsg_flags & NLM_F_DUMP;
	struct call call;
	int tries = 0;

	if (nl_request_is_cut(msg)) {
		nlmsg_free(msg);
		return err_set(err, EMSGSIZE, "the request is longer than netlink allows");
	}
	if (!is_dump)
		header->nlmsg_flags |= NLM_F_ACK;
	do {
		call = (struct call){ .handler = handler, .arg = arg, .err = err };
		nl_ask(nl, msg, &call);
	} while (++tries < NL_TRIES && nl_may_repeat(nl, header, &call));
	nlmsg_free(msg);
	/* What could not be received may have been a part of the list. */
	if (!call.result && is_dump && (call.interrupted || call.failed))
		return err_set(err, EAGAIN, "the list changed while it was read");
	return call.result;
}

/* Generic netlink. */

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
