/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/link_stats.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

struct link_stats_answer {
	struct link_stats *stats;
	bool complete;
};

static struct error_counters link_stats_counters(const struct rtnl_link_stats64 *from)
{
	return (struct error_counters){
		.packets = from->rx_packets,
		.errors = from->rx_errors,
		.crc = from->rx_crc_errors,
		.frame = from->rx_frame_errors,
		.length = from->rx_length_errors,
		.over = from->rx_over_errors,
		.fifo = from->rx_fifo_errors,
		.missed = from->rx_missed_errors,
	};
}

/* The struct grows at its end from kernel to kernel. */
static void link_stats_take(struct nlmsghdr *message, void *arg)
{
	struct link_stats_answer *answer = arg;
	struct rtnl_link_stats64 counted = { 0 };
	struct nlattr *tb[IFLA_MAX + 1];
	size_t length;

	if (message->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(message, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 ||
	    !tb[IFLA_STATS64] || !tb[IFLA_CARRIER_DOWN_COUNT])
		return;
	length = (size_t)nla_len(tb[IFLA_STATS64]);
	memcpy(&counted, nla_data(tb[IFLA_STATS64]),
	       length < sizeof(counted) ? length : sizeof(counted));
	answer->stats->rx = link_stats_counters(&counted);
	answer->stats->carrier_losses = nl_attr_u32(tb[IFLA_CARRIER_DOWN_COUNT], 0);
	answer->complete = true;
}

int link_stats_get(struct nl *nl, int ifindex, struct link_stats *ret_stats)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct link_stats_answer answer = { .stats = ret_stats };
	int r = nl_call(nl, nl_request_new(RTM_GETLINK, 0, &info, sizeof(info)), link_stats_take,
			&answer, NULL);

	return !r && !answer.complete ? -ENODATA : r;
}
