/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/rtnl_listener.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/memory.h"

/* then it is the turn of what waits for the end of the messages */
#define READ_NS (5 * NS_PER_MS)
#define KEPT_MAX 20000
#define RECEIVE_BUFFER (8 << 20) /* of about 5,000 link messages; only used when they come */

/* A message that rtnl_listener_glance() has read, for rtnl_listener_read(). */
struct rtnl_listener_kept {
	struct rtnl_listener_kept *next;
	struct nlmsghdr header; /* and what follows it */
};

static void rtnl_listener_monitor_tell_tc(struct rtnl_listener *listener, struct nlmsghdr *header)
{
	const struct tcmsg *tc = nlmsg_data(header);

	if (!nlmsg_valid_hdr(header, sizeof(*tc)))
		return;
	if (header->nlmsg_type == RTM_NEWQDISC || header->nlmsg_type == RTM_DELQDISC)
		listener->callbacks->qdisc(tc->tcm_ifindex, listener->arg);
	else
		listener->callbacks->filter(tc->tcm_ifindex, TC_H_MAJ(tc->tcm_info) >> 16,
					    tc->tcm_handle, header->nlmsg_type == RTM_DELTFILTER,
					    listener->arg);
}

static void rtnl_listener_monitor_tell_address(struct rtnl_listener *listener,
					       struct nlmsghdr *header)
{
	struct address address;

	if (address_parse(header, &address))
		listener->callbacks->address(&address, header->nlmsg_type == RTM_DELADDR,
					     listener->arg);
}

static void rtnl_listener_tell(struct rtnl_listener *listener, struct nlmsghdr *header)
{
	struct link_info link;

	switch (header->nlmsg_type) {
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER: rtnl_listener_monitor_tell_tc(listener, header); break;
	case RTM_NEWADDR:
	case RTM_DELADDR: rtnl_listener_monitor_tell_address(listener, header); break;
	default:
		if (link_parse(header, &link))
			listener->callbacks->link(&link, header->nlmsg_type == RTM_DELLINK,
						  listener->arg);
	}
}

static void rtnl_listener_keep(struct rtnl_listener *listener, const struct nlmsghdr *header)
{
	struct rtnl_listener_kept *kept;

	if (listener->kept_count >= KEPT_MAX) {
		listener->lost = true;
		return;
	}
	kept = memory_need(malloc(offsetof(struct rtnl_listener_kept, header) + header->nlmsg_len));
	kept->next = NULL;
	memcpy(&kept->header, header, header->nlmsg_len);
	*listener->kept_end = kept;
	listener->kept_end = &kept->next;
	listener->kept_count++;
}

static int rtnl_listener_take(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct rtnl_listener *listener = arg;
	struct link_info link;

	if (!listener->glance) {
		rtnl_listener_tell(listener, header);
		return NL_OK;
	}
	rtnl_listener_keep(listener, header);
	if (link_parse(header, &link))
		listener->glance(&link, header->nlmsg_type == RTM_DELLINK, listener->arg);
	return NL_OK;
}

/* Returns false if no message is kept. */
static bool rtnl_listener_take_kept(struct rtnl_listener *listener)
{
	struct rtnl_listener_kept *kept = listener->kept;

	if (!kept)
		return false;
	listener->kept = kept->next;
	if (!listener->kept)
		listener->kept_end = &listener->kept;
	listener->kept_count--;
	rtnl_listener_tell(listener, &kept->header);
	free(kept);
	return true;
}

int rtnl_listener_init(struct rtnl_listener *listener,
		       const struct rtnl_listener_callbacks *callbacks, void *arg)
{
	int size = RECEIVE_BUFFER, fd;

	*listener = (struct rtnl_listener){ .callbacks = callbacks,
					    .arg = arg,
					    .sock = nl_socket_alloc() };
	listener->kept_end = &listener->kept;
	if (!listener->sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(listener->sock);
	nl_socket_modify_cb(listener->sock, NL_CB_VALID, NL_CB_CUSTOM, rtnl_listener_take,
			    listener);
	if (nl_connect(listener->sock, NETLINK_ROUTE) < 0 ||
	    nl_socket_add_memberships(listener->sock, RTNLGRP_LINK, RTNLGRP_TC, RTNLGRP_IPV4_IFADDR,
				      RTNLGRP_IPV6_IFADDR, 0) < 0) {
		rtnl_listener_done(listener);
		return -ECONNREFUSED;
	}
	nl_socket_set_nonblocking(listener->sock);
	nl_socket_set_msg_buf_size(listener->sock, 1 << 16);
	fd = nl_socket_get_fd(listener->sock);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return 0;
}

void rtnl_listener_done(struct rtnl_listener *listener)
{
	while (listener->kept) {
		struct rtnl_listener_kept *next = listener->kept->next;

		free(listener->kept);
		listener->kept = next;
	}
	nl_socket_free(listener->sock);
	listener->sock = NULL;
}

int rtnl_listener_fd(const struct rtnl_listener *listener)
{
	return nl_socket_get_fd(listener->sock);
}

/* ENOBUFS, which libnl calls NLE_NOMEM, and any other error. */
static bool rtnl_listener_is_lost(int r)
{
	return r < 0 && r != -NLE_AGAIN;
}

void rtnl_listener_read(struct rtnl_listener *listener)
{
	uint64_t end_ns = clock_now_ns() + READ_NS;
	int r = 0;

	while (r >= 0 && clock_now_ns() < end_ns)
		if (!rtnl_listener_take_kept(listener))
			r = nl_recvmsgs_default(listener->sock);
	if (!rtnl_listener_is_lost(r) && !(listener->lost && !listener->kept))
		return;
	listener->lost = false;
	listener->callbacks->resync(listener->arg);
}

bool rtnl_listener_glance(struct rtnl_listener *listener, rtnl_listener_link glance)
{
	uint64_t end_ns = clock_now_ns() + READ_NS;
	int r = 0;

	listener->glance = glance;
	while (r >= 0 && clock_now_ns() < end_ns)
		r = nl_recvmsgs_default(listener->sock);
	listener->glance = NULL;
	listener->lost |= rtnl_listener_is_lost(r);
	return listener->lost || listener->kept;
}

static void rtnl_listener_pass_over(const struct link_info *link, bool gone, void *arg)
{
}

bool rtnl_listener_find_gone(struct rtnl_listener *listener, int ifindex,
			     struct link_info *ret_link)
{
	bool gone = false;

	rtnl_listener_glance(listener, rtnl_listener_pass_over);
	for (struct rtnl_listener_kept *kept = listener->kept; kept; kept = kept->next) {
		struct link_info link;

		if (!link_parse(&kept->header, &link) || link.ifindex != ifindex)
			continue;
		*ret_link = link;
		gone = kept->header.nlmsg_type == RTM_DELLINK;
	}
	return gone;
}
