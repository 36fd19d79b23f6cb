/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/netconf.h"

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network/nl.h"

/* IFLA_BRPORT_* of Linux 6.2 to 6.6, which bookworm's headers do not know. */
#define BRPORT_MAB 40
#define BRPORT_MCAST_MAX_GROUPS 42
#define BRPORT_NEIGH_VLAN_SUPPRESS 43
#define BRPORT_BACKUP_NHID 44

#define VLAN_COUNT 4096

static bool netconf_is_ours(const struct netconf_source *source, int ifindex)
{
	for (size_t i = 0; i < source->count; i++)
		if (source->devices[i].from == ifindex)
			return true;
	return false;
}

static void netconf_end(struct netconf_source *source, struct nl_msg *msg)
{
	if (nl_request_is_cut(msg))
		source->is_cut = true;
	else
		netconf_add(source->conf, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

static void netconf_put(struct nl_msg *msg, const struct nlattr *attribute)
{
	nl_request_put(msg, nla_type(attribute), nla_len(attribute), nla_data(attribute));
}

/* Options of a bridge's port that may be set; the others are what it does. */
static bool netconf_is_port_option(int type)
{
	static const int types[] = {
		IFLA_BRPORT_PRIORITY,
		IFLA_BRPORT_COST,
		IFLA_BRPORT_MODE,
		IFLA_BRPORT_GUARD,
		IFLA_BRPORT_PROTECT,
		IFLA_BRPORT_FAST_LEAVE,
		IFLA_BRPORT_LEARNING,
		IFLA_BRPORT_UNICAST_FLOOD,
		IFLA_BRPORT_PROXYARP,
		IFLA_BRPORT_PROXYARP_WIFI,
		IFLA_BRPORT_MCAST_FLOOD,
		IFLA_BRPORT_MULTICAST_ROUTER,
		IFLA_BRPORT_BCAST_FLOOD,
		IFLA_BRPORT_MCAST_TO_UCAST,
		IFLA_BRPORT_VLAN_TUNNEL,
		IFLA_BRPORT_GROUP_FWD_MASK,
		IFLA_BRPORT_ISOLATED,
		IFLA_BRPORT_NEIGH_SUPPRESS,
		IFLA_BRPORT_LOCKED,
		IFLA_BRPORT_BACKUP_PORT,
		IFLA_BRPORT_MCAST_EHT_HOSTS_LIMIT,
		BRPORT_MAB,
		BRPORT_MCAST_MAX_GROUPS,
		BRPORT_NEIGH_VLAN_SUPPRESS,
		BRPORT_BACKUP_NHID,
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == type)
			return true;
	return false;
}

static void netconf_add_master(struct netconf_source *source, const struct ifinfomsg *about,
			       struct nlattr *master)
{
	const struct ifinfomsg head = { .ifi_index = about->ifi_index };
	struct nl_msg *msg = nl_request_new_large(RTM_NEWLINK, 0, &head, sizeof(head));

	netconf_put(msg, master);
	netconf_end(source, msg);
}

static void netconf_add_port(struct netconf_source *source, const struct ifinfomsg *about,
			     struct nlattr *options)
{
	const struct ifinfomsg head = { .ifi_index = about->ifi_index };
	struct nl_msg *msg = nl_request_new_large(RTM_NEWLINK, 0, &head, sizeof(head));
	struct nlattr *linkinfo = nl_request_nest(msg, IFLA_LINKINFO), *data, *each;
	int left;

	nl_request_put_text(msg, IFLA_INFO_SLAVE_KIND, "bridge");
	data = nl_request_nest(msg, IFLA_INFO_SLAVE_DATA);
	nla_for_each_nested (each, options, left)
		if (netconf_is_port_option(nla_type(each)))
			netconf_put(msg, each);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	netconf_end(source, msg);
}

/* What an administrator may set on a device of any kind. */
static void netconf_add_settings(struct netconf_source *source, const struct ifinfomsg *about,
				 struct nlattr **tb)
{
	static const int types[] = { IFLA_TXQLEN, IFLA_GROUP, IFLA_IFALIAS };
	const unsigned int flags = IFF_PROMISC | IFF_ALLMULTI | IFF_NOARP | IFF_MULTICAST;
	const struct ifinfomsg head = { .ifi_index = about->ifi_index,
					.ifi_flags = about->ifi_flags & flags,
					.ifi_change = flags };
	struct nl_msg *msg = nl_request_new(RTM_NEWLINK, 0, &head, sizeof(head));

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (tb[types[i]])
			netconf_put(msg, tb[types[i]]);
	netconf_end(source, msg);
}

/* The part of IPv6 addresses that is the same in each network that a router advertises. */
static void netconf_add_token(struct netconf_source *source, const struct ifinfomsg *about,
			      const struct nlattr *families)
{
	const struct ifinfomsg head = { .ifi_index = about->ifi_index };
	const struct nlattr *ipv6 = nla_find(nla_data(families), nla_len(families), AF_INET6);
	const struct nlattr *token =
		ipv6 ? nla_find(nla_data(ipv6), nla_len(ipv6), IFLA_INET6_TOKEN) : NULL;
	struct nlattr *outer, *inner;
	struct nl_msg *msg;

	if (!token || nla_len(token) != sizeof(struct in6_addr) ||
	    IN6_IS_ADDR_UNSPECIFIED((struct in6_addr *)nla_data(token)))
		return;
	msg = nl_request_new(RTM_NEWLINK, 0, &head, sizeof(head));
	outer = nl_request_nest(msg, IFLA_AF_SPEC);
	inner = nl_request_nest(msg, AF_INET6);
	netconf_put(msg, token);
	nl_request_end(msg, inner);
	nl_request_end(msg, outer);
	netconf_end(source, msg);
}

void netconf_take_link(struct nlmsghdr *message, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	const struct ifinfomsg *about = nlmsg_data(message);
	struct netconf_source *source = arg;

	if (message->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(message, sizeof(*about), tb, IFLA_MAX, NULL) < 0 ||
	    !netconf_is_ours(source, about->ifi_index))
		return;
	netconf_add_settings(source, about, tb);
	if (tb[IFLA_AF_SPEC])
		netconf_add_token(source, about, tb[IFLA_AF_SPEC]);
	if (!tb[IFLA_MASTER])
		return;
	netconf_add_master(source, about, tb[IFLA_MASTER]);
	if (tb[IFLA_LINKINFO] &&
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) >= 0 &&
	    nl_attr_is(info[IFLA_INFO_SLAVE_KIND], "bridge") && info[IFLA_INFO_SLAVE_DATA])
		netconf_add_port(source, about, info[IFLA_INFO_SLAVE_DATA]);
}

static void netconf_put_vlan(struct nl_msg *msg, int vid, int flags)
{
	const struct bridge_vlan_info vlan = { (__u16)flags, (__u16)vid };

	nl_request_put(msg, IFLA_BRIDGE_VLAN_INFO, sizeof(vlan), &vlan);
}

/* In ranges, which the kernel takes, though it has not all VLANs of them. */
static void netconf_put_other_vlans(struct nl_msg *msg, const bool has[VLAN_COUNT])
{
	for (int vid = 1, last; vid < VLAN_COUNT - 1; vid = last + 1) {
		last = vid;
		if (has[vid])
			continue;
		while (last + 1 < VLAN_COUNT - 1 && !has[last + 1])
			last++;
		netconf_put_vlan(msg, vid, last > vid ? BRIDGE_VLAN_INFO_RANGE_BEGIN : 0);
		if (last > vid)
			netconf_put_vlan(msg, last, BRIDGE_VLAN_INFO_RANGE_END);
	}
}

static void netconf_find_vlans(struct nlattr *vlans, bool ret_has[VLAN_COUNT])
{
	struct bridge_vlan_info vlan;
	struct nlattr *each;
	int left;

	nla_for_each_nested (each, vlans, left) {
		if (nla_type(each) != IFLA_BRIDGE_VLAN_INFO || nla_len(each) < (int)sizeof(vlan))
			continue;
		memcpy(&vlan, nla_data(each), sizeof(vlan));
		if (vlan.vid < VLAN_COUNT)
			ret_has[vlan.vid] = true;
	}
}

/* A new port has the VLAN that its bridge gives to all (vlan_default_pvid). vlans: NULL: none. */
static void netconf_add_vlans(struct netconf_source *source, const struct ifinfomsg *about,
			      struct nlattr *vlans)
{
	const struct ifinfomsg head = { .ifi_family = AF_BRIDGE, .ifi_index = about->ifi_index };
	struct nl_msg *msg = nl_request_new_large(RTM_DELLINK, 0, &head, sizeof(head));
	struct nlattr *others = nl_request_nest(msg, IFLA_AF_SPEC);
	bool has[VLAN_COUNT] = { false };

	if (vlans)
		netconf_find_vlans(vlans, has);
	netconf_put_other_vlans(msg, has);
	nl_request_end(msg, others);
	netconf_end(source, msg);
	if (!vlans)
		return;
	msg = nl_request_new_large(RTM_SETLINK, 0, &head, sizeof(head));
	netconf_put(msg, vlans);
	netconf_end(source, msg);
}

void netconf_take_bridge_vlans(struct nlmsghdr *message, void *arg)
{
	const struct ifinfomsg *about = nlmsg_data(message);
	struct nlattr *tb[IFLA_MAX + 1];
	struct netconf_source *source = arg;

	if (message->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(message, sizeof(*about), tb, IFLA_MAX, NULL) < 0 ||
	    !netconf_is_ours(source, about->ifi_index) || !tb[IFLA_MASTER])
		return;
	netconf_add_vlans(source, about, tb[IFLA_AF_SPEC]);
}

void netconf_take_address(struct nlmsghdr *message, void *arg)
{
	const uint32_t states = IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED |
				IFA_F_SECONDARY | IFA_F_PERMANENT | IFA_F_OPTIMISTIC;
	const struct ifaddrmsg *about = nlmsg_data(message);
	struct nlattr *tb[IFA_MAX + 1];
	struct netconf_source *source = arg;
	struct ifaddrmsg head;
	struct nl_msg *msg;
	uint32_t flags;

	if (message->nlmsg_type != RTM_NEWADDR ||
	    nlmsg_parse(message, sizeof(*about), tb, IFA_MAX, NULL) < 0 ||
	    !netconf_is_ours(source, (int)about->ifa_index))
		return;
	flags = nl_attr_u32(tb[IFA_FLAGS], about->ifa_flags);
	if (flags & IFA_F_DADFAILED) /* another host has it, and it would not be checked again */
		return;
	head = *about;
	head.ifa_flags = 0;
	msg = nl_request_new_large(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	for (int type = 1; type <= IFA_MAX; type++)
		if (tb[type] && type != IFA_FLAGS)
			netconf_put(msg, tb[type]);
	nl_request_put_u32(msg, IFA_FLAGS, flags & ~states);
	netconf_end(source, msg);
}

/* Of a group or a broadcast, which the kernel makes when somebody sends there. */
static bool netconf_is_of_itself(const struct ndmsg *about)
{
	return about->ndm_state & NUD_NOARP &&
	       (about->ndm_type == RTN_MULTICAST || about->ndm_type == RTN_BROADCAST);
}

void netconf_take_neighbour(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *about = nlmsg_data(message);
	struct nlattr *tb[NDA_MAX + 1];
	struct netconf_source *source = arg;
	struct ndmsg head;
	struct nl_msg *msg;
	uint32_t extended;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*about), tb, NDA_MAX, NULL) < 0 ||
	    !netconf_is_ours(source, about->ndm_ifindex) || about->ndm_family == AF_BRIDGE)
		return;
	extended = nl_attr_u32(tb[NDA_FLAGS_EXT], 0) & NTF_EXT_MANAGED;
	if (!tb[NDA_DST] || netconf_is_of_itself(about) ||
	    (!(about->ndm_flags & NTF_PROXY) && !extended && !tb[NDA_LLADDR]))
		return;
	head = *about;
	head.ndm_flags &= NTF_PROXY | NTF_ROUTER | NTF_EXT_LEARNED;
	if (!(head.ndm_state & (NUD_PERMANENT | NUD_NOARP)))
		head.ndm_state = tb[NDA_LLADDR] ? NUD_STALE : NUD_NONE;
	msg = nl_request_new_large(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	netconf_put(msg, tb[NDA_DST]);
	if (tb[NDA_LLADDR])
		netconf_put(msg, tb[NDA_LLADDR]);
	if (tb[NDA_PROTOCOL])
		netconf_put(msg, tb[NDA_PROTOCOL]);
	if (extended)
		nl_request_put_u32(msg, NDA_FLAGS_EXT, extended);
	netconf_end(source, msg);
}

/*
 * Of a bridge: what somebody has set. The rest it has of itself, or learns again. The local ones
 * contain the port's own address: the bridge has it again by then, and must not take it for ours.
 */
void netconf_take_bridge_entry(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *about = nlmsg_data(message);
	struct ndmsg head = { .ndm_family = AF_BRIDGE, .ndm_state = about->ndm_state };
	int replaces = about->ndm_state == NUD_PERMANENT ? NLM_F_EXCL : NLM_F_REPLACE;
	struct nlattr *tb[NDA_MAX + 1];
	struct netconf_source *source = arg;
	struct nl_msg *msg;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*about), tb, NDA_MAX, NULL) < 0 ||
	    !netconf_is_ours(source, about->ndm_ifindex) ||
	    (about->ndm_state != NUD_NOARP && about->ndm_state != NUD_PERMANENT) ||
	    about->ndm_flags & (NTF_SELF | NTF_EXT_LEARNED) || !tb[NDA_MASTER] || !tb[NDA_LLADDR])
		return;
	head.ndm_ifindex = about->ndm_ifindex;
	head.ndm_flags = NTF_MASTER | (about->ndm_flags & NTF_STICKY);
	msg = nl_request_new_large(RTM_NEWNEIGH, NLM_F_CREATE | replaces, &head, sizeof(head));
	netconf_put(msg, tb[NDA_LLADDR]);
	if (tb[NDA_VLAN])
		netconf_put(msg, tb[NDA_VLAN]);
	netconf_end(source, msg);
}

/* Also one that no route uses would end with its device. */
void netconf_take_nexthop(struct nlmsghdr *message, void *arg)
{
	struct nlattr *tb[NHA_MAX + 1];
	struct netconf_source *source = arg;

	if (message->nlmsg_type == RTM_NEWNEXTHOP &&
	    nlmsg_parse(message, sizeof(struct nhmsg), tb, NHA_MAX, NULL) >= 0 && tb[NHA_OIF] &&
	    netconf_is_ours(source, (int)nl_attr_u32(tb[NHA_OIF], 0)))
		source->has_nexthop_objects = true;
}

static bool netconf_has_our_hop(const struct netconf_source *source, struct nlattr *hops)
{
	const struct rtnexthop *hop = nla_data(hops);

	for (int left = nla_len(hops); left >= (int)sizeof(*hop) && RTNH_OK(hop, left);) {
		int size = RTNH_ALIGN(hop->rtnh_len);

		if (netconf_is_ours(source, hop->rtnh_ifindex))
			return true;
		left -= size;
		hop = RTNH_NEXT(hop);
	}
	return false;
}

/*
 * Of an IPv6 route, whose hops are routes of their own: those by other devices stay, and the kernel
 * refuses all hops of a request if it has one of them.
 */
static void netconf_put_our_hops(const struct netconf_source *source, struct nl_msg *msg,
				 struct nlattr *hops)
{
	struct nlattr *ours = nl_request_nest(msg, RTA_MULTIPATH);
	const struct rtnexthop *hop = nla_data(hops);

	for (int left = nla_len(hops); left >= (int)sizeof(*hop) && RTNH_OK(hop, left);) {
		int size = RTNH_ALIGN(hop->rtnh_len);

		if (netconf_is_ours(source, hop->rtnh_ifindex))
			nl_request_append(msg, hop, hop->rtnh_len);
		left -= size;
		hop = RTNH_NEXT(hop);
	}
	nl_request_end(msg, ours);
}

static void netconf_put_of_route(const struct netconf_source *source, struct nl_msg *msg,
				 const struct rtmsg *about, struct nlattr *attribute)
{
	if (nla_type(attribute) == RTA_MULTIPATH && about->rtm_family == AF_INET6)
		netconf_put_our_hops(source, msg, attribute);
	else
		netconf_put(msg, attribute);
}

/*
 * The kernel makes those of table local with the addresses. Others that are said to be its own may
 * be NetworkManager's, which has addresses without routes, or of a router's advertisement. A double
 * of what the kernel makes again does no harm.
 */
static bool netconf_is_route(const struct netconf_source *source, const struct rtmsg *about,
			     struct nlattr **tb)
{
	if (about->rtm_flags & RTM_F_CLONED ||
	    (about->rtm_protocol == RTPROT_KERNEL &&
	     (about->rtm_type != RTN_UNICAST || about->rtm_table == RT_TABLE_LOCAL)))
		return false;
	return (tb[RTA_OIF] && netconf_is_ours(source, (int)nl_attr_u32(tb[RTA_OIF], 0))) ||
	       (tb[RTA_MULTIPATH] && netconf_has_our_hop(source, tb[RTA_MULTIPATH]));
}

static void netconf_put_expiry(struct nl_msg *msg, const struct nlattr *attribute)
{
	struct rta_cacheinfo info;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!attribute || nla_len(attribute) < (int)sizeof(info))
		return;
	memcpy(&info, nla_data(attribute), sizeof(info));
	if ((int)info.rta_expires > 0 && ticks > 0)
		nl_request_put_u32(msg, RTA_EXPIRES, info.rta_expires / (uint32_t)ticks + 1);
}

void netconf_take_route(struct nlmsghdr *message, void *arg)
{
	const struct rtmsg *about = nlmsg_data(message);
	struct nlattr *tb[RTA_MAX + 1];
	struct netconf_source *source = arg;
	struct rtmsg head;
	struct nl_msg *msg;

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    nlmsg_parse(message, sizeof(*about), tb, RTA_MAX, NULL) < 0 ||
	    !netconf_is_route(source, about, tb))
		return;
	if (tb[RTA_NH_ID]) {
		source->has_nexthop_objects = true;
		return;
	}
	head = *about;
	head.rtm_flags &= RTNH_F_ONLINK;
	msg = nl_request_new_large(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_APPEND, &head, sizeof(head));
	for (int type = 1; type <= RTA_MAX; type++)
		if (tb[type] && type != RTA_CACHEINFO && type != RTA_IIF && type != RTA_EXPIRES)
			netconf_put_of_route(source, msg, about, tb[type]);
	netconf_put_expiry(msg, tb[RTA_CACHEINFO]);
	netconf_end(source, msg);
}
