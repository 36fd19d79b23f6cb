/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/fdb.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

struct visit {
	int bridge;
	fdb_visitor visitor;
	void *arg;
};

static void fdb_take(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *neighbour = nlmsg_data(message);
	struct nlattr *tb[NDA_MAX + 1];
	struct fdb_entry entry = { 0 };
	struct visit *visit = arg;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*neighbour), tb, NDA_MAX, NULL) < 0 ||
	    neighbour->ndm_flags & NTF_SELF || neighbour->ndm_state & NUD_PERMANENT ||
	    (int)nl_attr_u32(tb[NDA_MASTER], 0) != visit->bridge || !tb[NDA_LLADDR] ||
	    nla_len(tb[NDA_LLADDR]) != XBOND_MAC_SIZE)
		return;
	memcpy(entry.mac, nla_data(tb[NDA_LLADDR]), XBOND_MAC_SIZE);
	entry.port = neighbour->ndm_ifindex;
	entry.vlan = nl_attr_u16(tb[NDA_VLAN], 0);
	if (!(entry.mac[0] & 1))
		visit->visitor(&entry, visit->arg);
}

int fdb_visit(struct nl *nl, int bridge, fdb_visitor visitor, void *arg)
{
	const struct ifinfomsg family = { .ifi_family = AF_BRIDGE };
	struct nl_msg *msg = nl_request_new(RTM_GETNEIGH, NLM_F_DUMP, &family, sizeof(family));
	struct visit visit = { bridge, visitor, arg };

	nl_request_put_u32(msg, IFLA_MASTER, (uint32_t)bridge);
	return nl_call(nl, msg, fdb_take, &visit, NULL);
}
