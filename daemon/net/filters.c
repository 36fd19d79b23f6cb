/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/filters.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static struct nl_msg *request(int type, int flags, int ifindex, unsigned int parent)
{
	struct tcmsg tc = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent };
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO);
	return msg;
}

static void count_one(struct nlmsghdr *message, void *arg)
{
	struct tcmsg *tc = nlmsg_data(message);
	int *count = arg;

	/* A dump also has one message per chain and priority, with no handle. */
	if (message->nlmsg_type == RTM_NEWTFILTER && tc->tcm_handle)
		++*count;
}

int filters_count(struct nl *nl, int ifindex)
{
	static const unsigned int parents[] = {
		TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
		TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS),
	};
	int count = 0, r;

	for (int i = 0; i < 2; i++) {
		r = nl_call(nl, request(RTM_GETTFILTER, NLM_F_DUMP, ifindex, parents[i]), count_one, &count,
			    NULL);
		if (r < 0)
			return r;
	}
	return count;
}

int filters_delete_clsact(struct nl *nl, int ifindex)
{
	return nl_call(nl, request(RTM_DELQDISC, 0, ifindex, TC_H_CLSACT), NULL, NULL, NULL);
}
