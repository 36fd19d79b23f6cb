/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/monitor.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define READS_MAX 256		 /* of some messages each; then what waits for the end of them has its turn */
#define RECEIVE_BUFFER (8 << 20) /* of about 5,000 link messages; only used when they come */

static int take(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct monitor *monitor = arg;
	const struct tcmsg *tc = nlmsg_data(header);
	const struct ifaddrmsg *address = nlmsg_data(header);
	struct link_info link;

	if (header->nlmsg_type == RTM_NEWQDISC || header->nlmsg_type == RTM_DELQDISC)
		monitor->callbacks->qdisc(tc->tcm_ifindex, monitor->arg);
	else if (header->nlmsg_type == RTM_NEWTFILTER || header->nlmsg_type == RTM_DELTFILTER)
		monitor->callbacks->filter(tc->tcm_ifindex, TC_H_MAJ(tc->tcm_info) >> 16, tc->tcm_handle,
					   header->nlmsg_type == RTM_DELTFILTER, monitor->arg);
	else if (header->nlmsg_type == RTM_NEWADDR || header->nlmsg_type == RTM_DELADDR)
		monitor->callbacks->address((int)address->ifa_index, header->nlmsg_type == RTM_DELADDR,
					    monitor->arg);
	else if (link_parse(header, &link))
		monitor->callbacks->link(&link, header->nlmsg_type == RTM_DELLINK, monitor->arg);
	return NL_OK;
}

int monitor_init(struct monitor *monitor, const struct monitor_callbacks *callbacks, void *arg)
{
	int size = RECEIVE_BUFFER, fd;

	*monitor = (struct monitor){ .callbacks = callbacks, .arg = arg, .sock = nl_socket_alloc() };
	if (!monitor->sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(monitor->sock);
	nl_socket_modify_cb(monitor->sock, NL_CB_VALID, NL_CB_CUSTOM, take, monitor);
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
	nl_socket_free(monitor->sock);
	monitor->sock = NULL;
}

int monitor_fd(const struct monitor *monitor)
{
	return nl_socket_get_fd(monitor->sock);
}

void monitor_read(struct monitor *monitor)
{
	int r = 0;

	for (int i = 0; i < READS_MAX && r >= 0; i++)
		r = nl_recvmsgs_default(monitor->sock);
	if (r < 0 && r != -NLE_AGAIN) /* ENOBUFS, which libnl calls NLE_NOMEM */
		monitor->callbacks->resync(monitor->arg);
}
