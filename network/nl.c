/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/nl.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

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

static void nl_take(struct call *call, struct nlmsghdr *header)
{
	if (header->nlmsg_flags & NLM_F_DUMP_INTR)
		call->interrupted = 1;
	if (header->nlmsg_type == NLMSG_ERROR)
		nl_finish_by(call, header);
	else if (header->nlmsg_type == NLMSG_DONE)
		nl_finish(call, 0, NULL);
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
