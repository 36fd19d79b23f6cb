/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/rtnl_listener.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"

/* then it is the turn of what waits for the end of the messages */
#define READ_NS (5 * NS_PER_MS)
#define KEPT_MAX 20000
#define RECEIVE_BUFFER (8 << 20) /* of about 5,000 link messages; only used when they come */

/* A message that monitor_glance() has read, for monitor_read(). */
struct monitor_kept {
	struct monitor_kept *next;
	struct nlmsghdr header; /* and what follows it */
};

static void monitor_tell_tc(struct monitor *monitor, struct nlmsghdr *header)
{
	const struct tcmsg *tc = nlmsg_data(header);

	if (!nlmsg_valid_hdr(header, sizeof(*tc)))
		return;
	if (header->nlmsg_type == RTM_NEWQDISC || header->nlmsg_type == RTM_DELQDISC)
		monitor->callbacks->qdisc(tc->tcm_ifindex, monitor->arg);
	else
		monitor->callbacks->filter(tc->tcm_ifindex, TC_H_MAJ(tc->tcm_info) >> 16,
					   tc->tcm_handle, header->nlmsg_type == RTM_DELTFILTER,
					   monitor->arg);
}

static void monitor_tell_address(struct monitor *monitor, struct nlmsghdr *header)
{
	const struct ifaddrmsg *address = nlmsg_data(header);

	if (nlmsg_valid_hdr(header, sizeof(*address)))
		monitor->callbacks->address((int)address->ifa_index,
					    header->nlmsg_type == RTM_DELADDR, monitor->arg);
}

static void monitor_tell(struct monitor *monitor, struct nlmsghdr *header)
{
	struct link_info link;

	switch (header->nlmsg_type) {
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER: monitor_tell_tc(monitor, header); break;
	case RTM_NEWADDR:
	case RTM_DELADDR: monitor_tell_address(monitor, header); break;
	default:
		if (link_parse(header, &link))
			monitor->callbacks->link(&link, header->nlmsg_type == RTM_DELLINK,
						 monitor->arg);
	}
}

static void monitor_keep(struct monitor *monitor, const struct nlmsghdr *header)
{
	struct monitor_kept *kept = NULL;

	if (monitor->kept_count < KEPT_MAX)
		kept = malloc(offsetof(struct monitor_kept, header) + header->nlmsg_len);
	if (!kept) {
		monitor->lost = true;
		return;
	}
	kept->next = NULL;
	memcpy(&kept->header, header, header->nlmsg_len);
	*monitor->kept_end = kept;
	monitor->kept_end = &kept->next;
	monitor->kept_count++;
}

static int monitor_take(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct monitor *monitor = arg;
	struct link_info link;

	if (!monitor->glance) {
		monitor_tell(monitor, header);
		return NL_OK;
	}
	monitor_keep(monitor, header);
	if (link_parse(header, &link))
		monitor->glance(&link, header->nlmsg_type == RTM_DELLINK, monitor->arg);
	return NL_OK;
}

/* Returns false if no message is kept. */
static bool monitor_take_kept(struct monitor *monitor)
{
	struct monitor_kept *kept = monitor->kept;

	if (!kept)
		return false;
	monitor->kept = kept->next;
	if (!monitor->kept)
		monitor->kept_end = &monitor->kept;
	monitor->kept_count--;
	monitor_tell(monitor, &kept->header);
	free(kept);
	return true;
}

int monitor_init(struct monitor *monitor, const struct monitor_callbacks *callbacks, void *arg)
{
	int size = RECEIVE_BUFFER, fd;

	*monitor =
		(struct monitor){ .callbacks = callbacks, .arg = arg, .sock = nl_socket_alloc() };
	monitor->kept_end = &monitor->kept;
	if (!monitor->sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(monitor->sock);
	nl_socket_modify_cb(monitor->sock, NL_CB_VALID, NL_CB_CUSTOM, monitor_take, monitor);
	if (nl_connect(monitor->sock, NETLINK_ROUTE) < 0 ||
	    nl_socket_add_memberships(monitor->sock, RTNLGRP_LINK, RTNLGRP_TC, RTNLGRP_IPV4_IFADDR,
				      RTNLGRP_IPV6_IFADDR, 0) < 0) {
		monitor_done(monitor);
		return -ECONNREFUSED;
	}
	nl_socket_set_nonblocking(monitor->sock);
	nl_socket_set_msg_buf_size(monitor->sock, 1 << 16);
	fd = nl_socket_get_fd(monitor->sock);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return 0;
}

void monitor_done(struct monitor *monitor)
{
	while (monitor->kept) {
		struct monitor_kept *next = monitor->kept->next;

		free(monitor->kept);
		monitor->kept = next;
	}
	nl_socket_free(monitor->sock);
	monitor->sock = NULL;
}

int monitor_fd(const struct monitor *monitor)
{
	return nl_socket_get_fd(monitor->sock);
}

/* ENOBUFS, which libnl calls NLE_NOMEM, and any other error. */
static bool monitor_is_lost(int r)
{
	return r < 0 && r != -NLE_AGAIN;
}

void monitor_read(struct monitor *monitor)
{
	uint64_t end_ns = clock_now_ns() + READ_NS;
	int r = 0;

	while (r >= 0 && clock_now_ns() < end_ns)
		if (!monitor_take_kept(monitor))
			r = nl_recvmsgs_default(monitor->sock);
	if (!monitor_is_lost(r) && !(monitor->lost && !monitor->kept))
		return;
	monitor->lost = false;
	monitor->callbacks->resync(monitor->arg);
}

bool monitor_glance(struct monitor *monitor, monitor_link glance)
{
	uint64_t end_ns = clock_now_ns() + READ_NS;
	int r = 0;

	monitor->glance = glance;
	while (r >= 0 && clock_now_ns() < end_ns)
		r = nl_recvmsgs_default(monitor->sock);
	monitor->glance = NULL;
	monitor->lost |= monitor_is_lost(r);
	return monitor->lost || monitor->kept;
}
