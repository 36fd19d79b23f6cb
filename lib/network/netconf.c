/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/netconf.h"

#include <errno.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/err.h"
#include "common/memory.h"
#include "network/nl.h"

/* The list of requests itself. */

static size_t netconf_head_size(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
	case RTM_SETLINK:
	case RTM_DELLINK: return sizeof(struct ifinfomsg);
	case RTM_NEWADDR: return sizeof(struct ifaddrmsg);
	case RTM_NEWROUTE: return sizeof(struct rtmsg);
	case RTM_NEWNEIGH: return sizeof(struct ndmsg);
	default: return 0;
	}
}

bool netconf_add(struct netconf *conf, const void *request, size_t size)
{
	const struct nlmsghdr *header = request;
	struct nlmsghdr *copy;

	if (size < sizeof(*header) || header->nlmsg_len != size ||
	    !netconf_head_size(header->nlmsg_type) ||
	    size < NLMSG_LENGTH(netconf_head_size(header->nlmsg_type)))
		return false;
	conf->request = memory_grow(conf->request, conf->count, sizeof(struct nlmsghdr *));
	copy = memory_need(malloc(size));
	memcpy(copy, request, size);
	conf->request[conf->count++] = copy;
	return true;
}

void netconf_free(struct netconf *conf)
{
	for (size_t i = 0; i < conf->count; i++)
		free(conf->request[i]);
	free(conf->request);
	*conf = (struct netconf){ 0 };
}

/* Forgets all but the first `count` requests. */
static void netconf_cut(struct netconf *conf, size_t count)
{
	while (conf->count > count)
		free(conf->request[--conf->count]);
}

/* What is read and applied. */

#define DUMP_TRIES 20
#define ROUTE_PASSES 3 /* a gateway may be behind another route */

/* One dump; its head is that of the family's messages, all zeroes but the family. */
static int netconf_dump(struct nl *nl, int type, const void *head, size_t size, uint32_t mask,
			nl_handler take, struct netconf_source *source)
{
	size_t before = source->conf->count;
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++) {
		struct nl_msg *msg = nl_request_new(type, NLM_F_DUMP, head, size);

		netconf_cut(source->conf, before);
		if (mask)
			nl_request_put_u32(msg, IFLA_EXT_MASK, mask);
		r = nl_call(nl, msg, take, source, NULL);
	}
	return !r && source->is_cut ? -EMSGSIZE : r;
}

static int netconf_dump_links(struct nl *nl, struct netconf_source *source)
{
	const struct ifinfomsg any = { 0 }, bridge = { .ifi_family = AF_BRIDGE };
	int r;

	r = netconf_dump(nl, RTM_GETLINK, &any, sizeof(any), RTEXT_FILTER_SKIP_STATS,
			 netconf_take_link, source);
	if (r)
		return r;
	r = netconf_dump(nl, RTM_GETLINK, &bridge, sizeof(bridge), RTEXT_FILTER_BRVLAN,
			 netconf_take_bridge_vlans, source);
	return r == -EOPNOTSUPP ? 0 : r; /* this kernel has no bridges */
}

static int netconf_dump_neighbours(struct nl *nl, struct netconf_source *source)
{
	const struct ndmsg neighbours = { 0 }, proxies = { .ndm_flags = NTF_PROXY };
	const struct ndmsg bridges = { .ndm_family = AF_BRIDGE };
	int r = netconf_dump(nl, RTM_GETNEIGH, &neighbours, sizeof(neighbours), 0,
			     netconf_take_neighbour, source);

	if (!r)
		r = netconf_dump(nl, RTM_GETNEIGH, &proxies, sizeof(proxies), 0,
				 netconf_take_neighbour, source);
	if (!r)
		r = netconf_dump(nl, RTM_GETNEIGH, &bridges, sizeof(bridges), 0,
				 netconf_take_bridge_entry, source);
	return r;
}

/* Routes need not say where their objects lead to (nexthop_compat_mode). */
static int netconf_dump_nexthops(struct nl *nl, struct netconf_source *source)
{
	const struct nhmsg any = { 0 };
	int r = netconf_dump(nl, RTM_GETNEXTHOP, &any, sizeof(any), 0, netconf_take_nexthop,
			     source);

	return r == -EOPNOTSUPP ? 0 : r;
}

static int netconf_dump_routes(struct nl *nl, struct netconf_source *source)
{
	const struct rtmsg v4 = { .rtm_family = AF_INET }, v6 = { .rtm_family = AF_INET6 };
	int r = netconf_dump(nl, RTM_GETROUTE, &v4, sizeof(v4), 0, netconf_take_route, source);

	return r ? r
		 : netconf_dump(nl, RTM_GETROUTE, &v6, sizeof(v6), 0, netconf_take_route, source);
}

int netconf_read(struct nl *nl, const struct netconf_device *devices, size_t count,
		 struct netconf *conf, struct err *err)
{
	struct netconf_source source = { .devices = devices, .count = count, .conf = conf };
	const struct ifaddrmsg any = { 0 };
	int r = netconf_dump_links(nl, &source);

	if (!r)
		r = netconf_dump(nl, RTM_GETADDR, &any, sizeof(any), 0, netconf_take_address,
				 &source);
	if (!r)
		r = netconf_dump_neighbours(nl, &source);
	if (!r)
		r = netconf_dump_routes(nl, &source);
	if (!r)
		r = netconf_dump_nexthops(nl, &source);
	if (r)
		return err_set(err, -r, "its addresses and routes cannot be read: %s",
			       strerror(-r));
	if (source.has_nexthop_objects)
		return err_set(err, EOPNOTSUPP,
			       "it has nexthop objects ('ip nexthop'), which would be lost with "
			       "the routes that use them; make these plain routes and remove the "
			       "objects first");
	return 0;
}

/* The device that takes the place of this one; 0: it is none of them. */
static int netconf_place(const struct netconf_device *devices, size_t count, int ifindex)
{
	for (size_t i = 0; i < count; i++)
		if (devices[i].from == ifindex)
			return devices[i].to;
	return 0;
}

static void netconf_replace(int *ifindex, const struct netconf_device *devices, size_t count)
{
	int place = netconf_place(devices, count, *ifindex);

	if (place)
		*ifindex = place;
}

static void netconf_readdress_hops(struct nlattr *hops, const struct netconf_device *devices,
				   size_t count)
{
	struct rtnexthop *hop = nla_data(hops);

	for (int left = nla_len(hops); left >= (int)sizeof(*hop) && RTNH_OK(hop, left);) {
		int size = RTNH_ALIGN(hop->rtnh_len);

		netconf_replace(&hop->rtnh_ifindex, devices, count);
		hop->rtnh_flags &= RTNH_F_ONLINK;
		left -= size;
		hop = RTNH_NEXT(hop);
	}
}

static void netconf_readdress_route(struct nlmsghdr *request, const struct netconf_device *devices,
				    size_t count)
{
	struct nlattr *oif = nlmsg_find_attr(request, sizeof(struct rtmsg), RTA_OIF);
	struct nlattr *hops = nlmsg_find_attr(request, sizeof(struct rtmsg), RTA_MULTIPATH);

	if (oif && nla_len(oif) == sizeof(int))
		netconf_replace(nla_data(oif), devices, count);
	if (hops)
		netconf_readdress_hops(hops, devices, count);
}

/* Changes a request that netconf_add() has taken: to the devices `to`. */
static void netconf_readdress(struct nlmsghdr *request, const struct netconf_device *devices,
			      size_t count)
{
	void *head = nlmsg_data(request);
	struct ifaddrmsg *address = head;
	int ifindex;

	switch (request->nlmsg_type) {
	case RTM_NEWADDR:
		ifindex = (int)address->ifa_index;
		netconf_replace(&ifindex, devices, count);
		address->ifa_index = (unsigned int)ifindex;
		break;
	case RTM_NEWNEIGH:
		netconf_replace(&((struct ndmsg *)head)->ndm_ifindex, devices, count);
		break;
	case RTM_NEWROUTE: netconf_readdress_route(request, devices, count); break;
	default: netconf_replace(&((struct ifinfomsg *)head)->ifi_index, devices, count);
	}
}

/* What the kernel has made itself by now, or never lets go. */
static bool netconf_is_refusal(const struct nlmsghdr *request, int r)
{
	return r && r != -EEXIST && request->nlmsg_type != RTM_DELLINK;
}

/* The flags of an IPv6 address that is checked for doubles; NULL: it is none. */
static struct nlattr *netconf_checked(struct nlmsghdr *request)
{
	const struct ifaddrmsg *address = nlmsg_data(request);
	struct nlattr *flags;

	if (request->nlmsg_type != RTM_NEWADDR || address->ifa_family != AF_INET6)
		return NULL;
	flags = nlmsg_find_attr(request, sizeof(*address), IFA_FLAGS);
	return nl_attr_u32(flags, IFA_F_NODAD) & IFA_F_NODAD ? NULL : flags;
}

static int netconf_apply_one(struct nl *nl, const struct nlmsghdr *request, uint32_t address_flags,
			     const struct netconf_device *devices, size_t count, struct err *err)
{
	struct nl_msg *msg = nl_request_copy(request);
	struct nlattr *flags;
	uint32_t value;

	nlmsg_hdr(msg)->nlmsg_seq = 0;
	nlmsg_hdr(msg)->nlmsg_pid = 0;
	netconf_readdress(nlmsg_hdr(msg), devices, count);
	flags = netconf_checked(nlmsg_hdr(msg));
	if (flags) {
		value = nla_get_u32(flags) | address_flags;
		memcpy(nla_data(flags), &value, sizeof(value));
	}
	return nl_call(nl, msg, NULL, NULL, err);
}

/* A change of flags checks nothing: nodad, which an address had not before, goes again. */
static void netconf_settle(struct nl *nl, const struct netconf *conf,
			   const struct netconf_device *devices, size_t count, const bool *done)
{
	for (size_t i = 0; i < conf->count; i++)
		if (done[i] && netconf_checked(conf->request[i]))
			netconf_apply_one(nl, conf->request[i], 0, devices, count, NULL);
}

/*
 * IPv6 addresses were checked for doubles when they came, and they do not leave the host now. So
 * they are not checked again, which would take seconds.
 */
int netconf_apply(struct nl *nl, const struct netconf *conf, const struct netconf_device *devices,
		  size_t count, size_t *ret_refused, struct err *err)
{
	bool *done = memory_need(calloc(conf->count + 1, sizeof(*done)));
	size_t refused = conf->count;
	int r, first = 0;
	struct err why;

	for (int pass = 0; pass < ROUTE_PASSES && refused; pass++) {
		refused = 0;
		for (size_t i = 0; i < conf->count; i++) {
			const struct nlmsghdr *request = conf->request[i];

			if (done[i])
				continue;
			r = netconf_apply_one(nl, request, IFA_F_NODAD, devices, count, &why);
			done[i] = !netconf_is_refusal(request, r);
			if (done[i] || refused++)
				continue;
			first = r;
			if (err)
				*err = why;
		}
	}
	netconf_settle(nl, conf, devices, count, done);
	free(done);
	if (ret_refused)
		*ret_refused = refused;
	return refused ? first : 0;
}

/* The label may be another by now, so it is not asked for. */
static void netconf_remove_address(struct nl *nl, const struct ifaddrmsg *head,
				   const struct nlattr *local)
{
	struct nl_msg *msg = nl_request_new(RTM_DELADDR, 0, head, sizeof(*head));

	nl_request_put(msg, IFA_LOCAL, nla_len(local), nla_data(local));
	nl_call(nl, msg, NULL, NULL, NULL);
}

void netconf_remove_ipv4(struct nl *nl, const struct netconf *conf, int ifindex)
{
	for (size_t i = 0; i < conf->count; i++) {
		struct nlmsghdr *request = conf->request[i];
		const struct ifaddrmsg *head = nlmsg_data(request);
		struct nlattr *local;

		if (request->nlmsg_type != RTM_NEWADDR || head->ifa_family != AF_INET ||
		    head->ifa_index != (unsigned int)ifindex)
			continue;
		local = nlmsg_find_attr(request, sizeof(*head), IFA_LOCAL);
		if (local)
			netconf_remove_address(nl, head, local);
	}
}
