/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

#define DUMP_TRIES 20

struct visit {
	address_visitor visitor;
	void *arg;
};

struct list {
	int ifindex;
	struct address *addresses;
	int max, count;
};

static int address_size(int family)
{
	return family == AF_INET ? 4 : 16;
}

static void address_take_lifetime(struct address *address, const struct nlattr *attribute)
{
	struct ifa_cacheinfo lifetime;

	if (!attribute || nla_len(attribute) < (int)sizeof(lifetime))
		return;
	memcpy(&lifetime, nla_data(attribute), sizeof(lifetime));
	if (lifetime.ifa_valid == UINT32_MAX)
		return;
	address->valid_s = lifetime.ifa_valid ? lifetime.ifa_valid : 1;
	address->preferred_s = lifetime.ifa_prefered;
}

bool address_parse(struct nlmsghdr *message, struct address *ret_address)
{
	struct ifaddrmsg *info = nlmsg_data(message);
	struct nlattr *tb[IFA_MAX + 1], *attribute;

	if (nlmsg_parse(message, sizeof(*info), tb, IFA_MAX, NULL) < 0)
		return false;
	attribute = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!attribute || (info->ifa_family != AF_INET && info->ifa_family != AF_INET6))
		return false;
	*ret_address = (struct address){
		.ifindex = (int)info->ifa_index,
		.family = info->ifa_family,
		.flags = nl_attr_u32(tb[IFA_FLAGS], info->ifa_flags),
		.is_link_local = info->ifa_family == AF_INET6 && info->ifa_scope == RT_SCOPE_LINK,
		.prefix_length = info->ifa_prefixlen,
	};
	nla_memcpy(ret_address->bytes, attribute, address_size(info->ifa_family));
	address_take_lifetime(ret_address, tb[IFA_CACHEINFO]);
	return true;
}

static void address_take(struct nlmsghdr *message, void *arg)
{
	struct address address;
	struct visit *visit = arg;

	if (message->nlmsg_type == RTM_NEWADDR && address_parse(message, &address))
		visit->visitor(&address, visit->arg);
}

static int address_dump(struct nl *nl, struct visit *visit)
{
	struct ifaddrmsg info = { .ifa_family = AF_UNSPEC };
	struct nl_msg *msg = nl_request_new(RTM_GETADDR, NLM_F_DUMP, &info, sizeof(info));

	return nl_call(nl, msg, address_take, visit, NULL);
}

int address_visit(struct nl *nl, address_visitor visitor, void *arg)
{
	struct visit visit = { visitor, arg };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++)
		r = address_dump(nl, &visit);
	return r;
}

static void address_collect(const struct address *address, void *arg)
{
	struct list *list = arg;
	char text[INET6_ADDRSTRLEN];
	struct address *place;

	if (address->ifindex != list->ifindex || address->is_link_local ||
	    list->count++ >= list->max)
		return;
	place = &list->addresses[list->count - 1];
	*place = *address;
	inet_ntop(address->family, address->bytes, text, sizeof(text));
	snprintf(place->text, sizeof(place->text), "%s/%u", text, address->prefix_length);
}

int address_list(struct nl *nl, int ifindex, struct address *ret_addresses, int max)
{
	struct list list = { 0 };
	struct visit visit = { address_collect, &list };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++) {
		list = (struct list){ .ifindex = ifindex, .addresses = ret_addresses, .max = max };
		r = address_dump(nl, &visit);
	}
	return r < 0 ? r : list.count;
}

static struct nl_msg *address_change_request(int type, int flags, int ifindex,
					     const struct address *address)
{
	struct ifaddrmsg info = {
		.ifa_family = (unsigned char)address->family,
		.ifa_prefixlen = address->prefix_length,
		.ifa_index = (unsigned int)ifindex,
	};
	struct nl_msg *msg = nl_request_new(type, flags, &info, sizeof(info));

	nl_request_put(msg, IFA_LOCAL, address_size(address->family), address->bytes);
	return msg;
}

int address_delete(struct nl *nl, int ifindex, const struct address *address, struct err *err)
{
	return nl_call(nl, address_change_request(RTM_DELADDR, 0, ifindex, address), NULL, NULL,
		       err);
}

int address_add(struct nl *nl, int ifindex, const struct address *address)
{
	const struct ifa_cacheinfo lifetime = {
		.ifa_prefered = address->preferred_s,
		.ifa_valid = address->valid_s,
	};
	struct nl_msg *msg = address_change_request(RTM_NEWADDR, NLM_F_CREATE, ifindex, address);

	nl_request_put_u32(msg, IFA_FLAGS, address->flags);
	if (address->valid_s)
		nl_request_put(msg, IFA_CACHEINFO, sizeof(lifetime), &lifetime);
	return nl_call(nl, msg, NULL, NULL, NULL);
}
