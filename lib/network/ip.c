/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/ip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "network/nl.h"

/* Addresses. */

#define DUMP_TRIES 20

struct address_visit {
	address_visitor visitor;
	void *arg;
};

struct address_list {
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
	struct address_visit *visit = arg;

	if (message->nlmsg_type == RTM_NEWADDR && address_parse(message, &address))
		visit->visitor(&address, visit->arg);
}

static int address_dump(struct nl *nl, struct address_visit *visit)
{
	struct ifaddrmsg info = { .ifa_family = AF_UNSPEC };
	struct nl_msg *msg = nl_request_new(RTM_GETADDR, NLM_F_DUMP, &info, sizeof(info));

	return nl_call(nl, msg, address_take, visit, NULL);
}

int address_visit(struct nl *nl, address_visitor visitor, void *arg)
{
	struct address_visit visit = { visitor, arg };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++)
		r = address_dump(nl, &visit);
	return r;
}

static void address_collect(const struct address *address, void *arg)
{
	struct address_list *list = arg;
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
	struct address_list list = { 0 };
	struct address_visit visit = { address_collect, &list };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++) {
		list = (struct address_list){ .ifindex = ifindex,
					      .addresses = ret_addresses,
					      .max = max };
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

/* Routes. */

struct route_answer {
	struct route *route;
	int size; /* of an address */
	bool found;
};

static void route_take(struct nlmsghdr *message, void *arg)
{
	const struct rtmsg *info = nlmsg_data(message);
	struct nlattr *tb[RTA_MAX + 1];
	struct route_answer *answer = arg;

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
	struct route_answer answer = { .route = ret_route, .size = family == AF_INET ? 4 : 16 };
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

/* The switches of IPv6, and who forwards it. */

#define SYSCTL_SIZE 256

static int sysctl_open(const char *directory, const char *device, const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "/proc/sys/net/%s/%s/%s", directory, device, name);
	return open(path, flags | O_CLOEXEC);
}

static bool sysctl_read(const char *directory, const char *device, const char *name,
			char ret_value[SYSCTL_SIZE])
{
	int fd = sysctl_open(directory, device, name, O_RDONLY);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, ret_value, SYSCTL_SIZE - 1);
	close(fd);
	ret_value[size > 0 ? size : 0] = '\0';
	return size > 0;
}

int sysctl_write(const char *directory, const char *device, const char *name, const char *value)
{
	int fd = sysctl_open(directory, device, name, O_WRONLY), r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, value, strlen(value)) < 0)
		r = -errno;
	close(fd);
	return r;
}

int sysctl_copy(const char *directory, const char *from, const char *to, const char *name)
{
	char value[SYSCTL_SIZE], old[SYSCTL_SIZE];

	if (!sysctl_read(directory, from, name, value) ||
	    (sysctl_read(directory, to, name, old) && !strcmp(value, old)))
		return 0;
	return sysctl_write(directory, to, name, value);
}

int ipv6_disabled(const char *name)
{
	char value[SYSCTL_SIZE];

	if (!sysctl_read("ipv6/conf", name, "disable_ipv6", value))
		return -1;
	return *value == '0' || *value == '1' ? *value - '0' : -1;
}

int ipv6_set_disabled(const char *name, int disabled)
{
	return sysctl_write("ipv6/conf", name, "disable_ipv6", disabled ? "1" : "0");
}

struct routers {
	ipv6_visitor visit;
	void *arg;
};

static void ipv6_take_router(struct nlmsghdr *message, void *arg)
{
	struct nlattr *tb[NETCONFA_MAX + 1];
	struct routers *routers = arg;

	if (message->nlmsg_type != RTM_NEWNETCONF ||
	    nlmsg_parse(message, sizeof(struct netconfmsg), tb, NETCONFA_MAX, NULL) < 0)
		return;
	if (tb[NETCONFA_IFINDEX] && nl_attr_u32(tb[NETCONFA_FORWARDING], 0))
		routers->visit((int)nl_attr_u32(tb[NETCONFA_IFINDEX], 0), routers->arg);
}

int ipv6_visit_routers(struct nl *nl, ipv6_visitor visit, void *arg)
{
	struct routers routers = { visit, arg };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++) {
		struct netconfmsg config = { .ncm_family = AF_INET6 };
		struct nl_msg *msg =
			nl_request_new(RTM_GETNETCONF, NLM_F_DUMP, &config, sizeof(config));

		r = nl_call(nl, msg, ipv6_take_router, &routers, NULL);
	}
	return r;
}
