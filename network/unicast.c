/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/unicast.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "network/nl_request.h"

struct visit {
	int ifindex;
	unicast_visitor visitor;
	void *arg;
};

/* The kernel lists multicast addresses, too. */
static void unicast_take(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *entry = nlmsg_data(message);
	struct nlattr *tb[NDA_MAX + 1];
	struct visit *visit = arg;
	const uint8_t *mac;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*entry), tb, NDA_MAX, NULL) < 0 ||
	    entry->ndm_ifindex != visit->ifindex || !(entry->ndm_flags & NTF_SELF) ||
	    !tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != XBOND_MAC_SIZE)
		return;
	mac = nla_data(tb[NDA_LLADDR]);
	if (!(mac[0] & 1))
		visit->visitor(mac, visit->arg);
}

/* The kernel finds the device in a header of this kind only. */
int unicast_visit(struct nl *nl, int ifindex, unicast_visitor visitor, void *arg)
{
	const struct ifinfomsg device = { .ifi_family = AF_BRIDGE, .ifi_index = ifindex };
	struct nl_msg *msg = nl_request_new(RTM_GETNEIGH, NLM_F_DUMP, &device, sizeof(device));
	struct visit visit = { ifindex, visitor, arg };

	return nl_call(nl, msg, unicast_take, &visit, NULL);
}
