/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/route.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

struct answer {
	struct route *route;
	int size; /* of an address */
	bool found;
};

static void route_take(struct nlmsghdr *message, void *arg)
{
	const struct rtmsg *info = nlmsg_data(message);
	struct nlattr *tb[RTA_MAX + 1];
	struct answer *answer = arg;

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    nlmsg_parse(message, sizeof(*info), tb, RTA_MAX, NULL) < 0)
		return;
	if (info->rtm_type != RTN_UNICAST && info->rtm_type != RTN_LOCAL)
		return;
	answer->found = true;
	answer->route->ifindex = (int)nl_attr_u32(tb[RTA_OIF], 0);
	if (tb[RTA_PREFSRC] && nla_len(tb[RTA_PREFSRC]) == answer->size)
		memcpy(answer->route->source, nla_data(tb[RTA_PREFSRC]), (size_t)answer->size);
}

int route_get(struct nl *nl, int family, const uint8_t *to, int ifindex, struct route *ret_route)
{
	struct answer answer = { .route = ret_route, .size = family == AF_INET ? 4 : 16 };
	struct rtmsg info = { .rtm_family = (unsigned char)family,
			      .rtm_dst_len = (unsigned char)(answer.size * 8) };
	struct nl_msg *msg = nl_request_new(RTM_GETROUTE, 0, &info, sizeof(info));
	int r;

	*ret_route = (struct route){ 0 };
	nl_request_put(msg, RTA_DST, answer.size, to);
	if (ifindex)
		nl_request_put_u32(msg, RTA_OIF, (uint32_t)ifindex);
	r = nl_call(nl, msg, route_take, &answer, NULL);
	return r || answer.found ? r : -ENETUNREACH;
}

static void route_put_metrics(struct nl_msg *msg, const struct route_change *route)
{
	struct nlattr *metrics = nl_request_nest(msg, RTA_METRICS);

	if (route->mtu)
		nl_request_put_u32(msg, RTAX_MTU, route->mtu);
	if (route->advmss)
		nl_request_put_u32(msg, RTAX_ADVMSS, route->advmss);
	nl_request_end(msg, metrics);
}

int route_add(struct nl *nl, const struct route_change *route, struct err *err)
{
	int size = route->family == AF_INET ? 4 : 16;
	struct rtmsg info = {
		.rtm_family = (unsigned char)route->family,
		.rtm_dst_len = route->prefix_length,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = route->has_gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg =
		nl_request_new(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));

	nl_request_put_u32(msg, RTA_TABLE, route->table ? route->table : RT_TABLE_MAIN);
	nl_request_put_u32(msg, RTA_OIF, (uint32_t)route->ifindex);
	if (route->prefix_length)
		nl_request_put(msg, RTA_DST, size, route->to);
	if (route->has_gateway)
		nl_request_put(msg, RTA_GATEWAY, size, route->gateway);
	if (route->priority)
		nl_request_put_u32(msg, RTA_PRIORITY, route->priority);
	if (route->mtu || route->advmss)
		route_put_metrics(msg, route);
	return nl_call(nl, msg, NULL, NULL, err);
}
