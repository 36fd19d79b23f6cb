/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changing devices: attributes, flags, pairs, unicast filters; copies with the settings of another.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/mac.h"
#include "network/ip.h"
#include "network/link.h"
#include "network/nl.h"

/* IFLA_NETKIT_* of Linux 6.7, and their values, which bookworm's headers do not know. */
#define NETKIT_PEER_INFO 1
#define NETKIT_POLICY 3
#define NETKIT_PEER_POLICY 4
#define NETKIT_MODE 5
#define NETKIT_MODE_L2 0
#define NETKIT_POLICY_PASS 0
#define NETKIT_POLICY_DROP 2

static struct nl_msg *link_change_request(int type, int flags, const struct ifinfomsg *info)
{
	return nl_request_new(type, flags, info, sizeof(*info));
}

static struct nl_msg *link_set_request(int ifindex)
{
	struct ifinfomsg info = { .ifi_index = ifindex };

	return link_change_request(RTM_NEWLINK, 0, &info);
}

int link_set_mtu(struct nl *nl, int ifindex, uint32_t mtu, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_u32(msg, IFLA_MTU, mtu);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_mac(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put(msg, IFLA_ADDRESS, XBOND_MAC_SIZE, mac);
	return nl_call(nl, msg, NULL, NULL, err);
}

bool link_can_change_mac(struct nl *nl, int ifindex, const uint8_t *mac)
{
	return link_set_mac(nl, ifindex, mac, NULL) != -EOPNOTSUPP;
}

int link_force_mac(struct nl *nl, const struct link_info *link, const uint8_t *mac, struct err *err)
{
	int r = link_set_mac(nl, link->ifindex, mac, err);

	if (r != -EBUSY || !(link->flags & IFF_UP))
		return r;
	r = link_set_flags(nl, link->ifindex, 0, IFF_UP, err);
	if (r)
		return r;
	r = link_set_mac(nl, link->ifindex, mac, err);
	link_set_flags(nl, link->ifindex, IFF_UP, IFF_UP, NULL);
	return r;
}

int link_set_master(struct nl *nl, int ifindex, int master, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_u32(msg, IFLA_MASTER, (uint32_t)master);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_carrier(struct nl *nl, int ifindex, bool carrier, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_u8(msg, IFLA_CARRIER, carrier);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_dormant(struct nl *nl, int ifindex, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_u8(msg, IFLA_LINKMODE, IF_LINK_MODE_DORMANT);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_name(struct nl *nl, int ifindex, const char *name, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);
	int r;

	nl_request_put_text(msg, IFLA_IFNAME, name);
	r = nl_call(nl, msg, NULL, NULL, err);
	return r == -EEXIST ? err_set(err, EEXIST, "another device has the name %s", name) : r;
}

int link_move(struct nl *nl, int ifindex, int namespace_fd, const char *name, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)namespace_fd);
	nl_request_put_text(msg, IFLA_IFNAME, name);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_alias(struct nl *nl, int ifindex, const char *alias, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_text(msg, IFLA_IFALIAS, alias);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_set_flags(struct nl *nl, int ifindex, unsigned int flags, unsigned int mask,
		   struct err *err)
{
	struct ifinfomsg info = { .ifi_index = ifindex, .ifi_flags = flags, .ifi_change = mask };

	return nl_call(nl, link_change_request(RTM_NEWLINK, 0, &info), NULL, NULL, err);
}

int link_clear_xdp(struct nl *nl, int ifindex, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);
	struct nlattr *xdp = nl_request_nest(msg, IFLA_XDP);

	nl_request_put_u32(msg, IFLA_XDP_FD, (uint32_t)-1);
	nl_request_put_u32(msg, IFLA_XDP_FLAGS, XDP_FLAGS_DRV_MODE);
	nl_request_end(msg, xdp);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_delete(struct nl *nl, int ifindex, struct err *err)
{
	struct ifinfomsg info = { .ifi_index = ifindex };

	return nl_call(nl, link_change_request(RTM_DELLINK, 0, &info), NULL, NULL, err);
}

static void link_put_end(struct nl_msg *msg, const struct link_end *end)
{
	nl_request_put_text(msg, IFLA_IFNAME, end->name);
	nl_request_put(msg, IFLA_ADDRESS, XBOND_MAC_SIZE, end->mac);
	nl_request_put_u32(msg, IFLA_MTU, end->mtu);
	nl_request_put_u32(msg, IFLA_NUM_TX_QUEUES, end->queues);
	nl_request_put_u32(msg, IFLA_NUM_RX_QUEUES, end->queues);
}

static void link_put_peer(struct nl_msg *msg, int attribute, const struct link_end *end)
{
	struct nlattr *peer = nl_request_nest(msg, attribute);
	struct ifinfomsg info = { 0 };

	nl_request_append(msg, &info, sizeof(info));
	link_put_end(msg, end);
	nl_request_end(msg, peer);
}

/* Whether a kind is known comes before what is wrong with the request: the address is too short. */
bool link_knows_kind(struct nl *nl, const char *kind)
{
	struct ifinfomsg info = { 0 };
	struct nl_msg *msg = link_change_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info);
	const uint8_t no_mac[XBOND_MAC_SIZE - 1] = { 0 };
	struct nlattr *linkinfo;

	nl_request_put(msg, IFLA_ADDRESS, sizeof(no_mac), no_mac);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, kind);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, NULL) != -EOPNOTSUPP;
}

int link_create(struct nl *nl, const char *kind, const struct link_end *end, struct err *err)
{
	struct ifinfomsg info = { 0 };
	struct nl_msg *msg = link_change_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info);
	struct nlattr *linkinfo;

	link_put_end(msg, end);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, kind);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_create_veth(struct nl *nl, const struct link_end *a, const struct link_end *b,
		     struct err *err)
{
	struct ifinfomsg info = { 0 };
	struct nl_msg *msg = link_change_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info);
	struct nlattr *linkinfo, *data;

	link_put_end(msg, a);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, "veth");
	data = nl_request_nest(msg, IFLA_INFO_DATA);
	link_put_peer(msg, VETH_INFO_PEER, b);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_create_netkit(struct nl *nl, const struct link_end *primary, const struct link_end *peer,
		       struct err *err)
{
	struct ifinfomsg info = { 0 };
	struct nl_msg *msg = link_change_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info);
	struct nlattr *linkinfo, *data;

	link_put_end(msg, primary);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, "netkit");
	data = nl_request_nest(msg, IFLA_INFO_DATA);
	nl_request_put_u32(msg, NETKIT_MODE, NETKIT_MODE_L2);
	nl_request_put_u32(msg, NETKIT_POLICY, NETKIT_POLICY_PASS);
	nl_request_put_u32(msg, NETKIT_PEER_POLICY, NETKIT_POLICY_DROP);
	link_put_peer(msg, NETKIT_PEER_INFO, peer);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_create_vlan(struct nl *nl, const struct link_vlan *vlan, struct err *err)
{
	struct ifla_vlan_flags flags = { .flags = VLAN_FLAG_LOOSE_BINDING,
					 .mask = VLAN_FLAG_LOOSE_BINDING };
	struct ifinfomsg info = { 0 };
	struct nl_msg *msg = link_change_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info);
	struct nlattr *linkinfo, *data;

	nl_request_put_text(msg, IFLA_IFNAME, vlan->name);
	nl_request_put_u32(msg, IFLA_LINK, (uint32_t)vlan->lower);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, "vlan");
	data = nl_request_nest(msg, IFLA_INFO_DATA);
	nl_request_put_u16(msg, IFLA_VLAN_ID, vlan->id);
	nl_request_put_u16(msg, IFLA_VLAN_PROTOCOL, htons(vlan->protocol));
	nl_request_put(msg, IFLA_VLAN_FLAGS, sizeof(flags), &flags);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, err);
}

static int link_change_unicast(struct nl *nl, int type, int flags, int ifindex, const uint8_t *mac,
			       struct err *err)
{
	struct ndmsg neighbour = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = ifindex,
		.ndm_state = NUD_PERMANENT,
		.ndm_flags = NTF_SELF,
	};
	struct nl_msg *msg = nl_request_new(type, flags, &neighbour, sizeof(neighbour));

	nl_request_put(msg, NDA_LLADDR, XBOND_MAC_SIZE, mac);
	return nl_call(nl, msg, NULL, NULL, err);
}

int link_add_unicast(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err)
{
	return link_change_unicast(nl, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL, ifindex, mac, err);
}

int link_del_unicast(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err)
{
	return link_change_unicast(nl, RTM_DELNEIGH, 0, ifindex, mac, err);
}

bool link_copy_can(const struct link_info *link)
{
	return !strcmp(link->kind, "vlan") || !strcmp(link->kind, "macvlan");
}

struct link_copy_order {
	const struct link_info *link;
	const char *name;
	int lower;
	bool has_lower_mac; /* it follows the address of its lower device */
	struct nl_msg *made;
};

/* A macvlan also tells of its state, which cannot be set. */
static bool link_copy_is_option(const struct link_info *link, int type)
{
	return strcmp(link->kind, "macvlan") || type == IFLA_MACVLAN_MODE ||
	       type == IFLA_MACVLAN_FLAGS || type == IFLA_MACVLAN_BC_QUEUE_LEN;
}

/* The senders of mode source are told as a list, and set by a list with a command. */
static void link_copy_put_senders(struct nl_msg *msg, const struct nlattr *senders)
{
	nl_request_put_u32(msg, IFLA_MACVLAN_MACADDR_MODE, MACVLAN_MACADDR_SET);
	nl_request_put(msg, IFLA_MACVLAN_MACADDR_DATA | NLA_F_NESTED, nla_len(senders),
		       nla_data(senders));
}

/* A mask of flags that the kernel does not know is refused, and it tells of all. */
static void link_copy_put_option(struct nl_msg *msg, const struct link_info *link,
				 const struct nlattr *option)
{
	struct ifla_vlan_flags flags;

	if (strcmp(link->kind, "vlan") || nla_type(option) != IFLA_VLAN_FLAGS ||
	    nla_len(option) < (int)sizeof(flags)) {
		nl_request_put(msg, option->nla_type, nla_len(option), nla_data(option));
		return;
	}
	memcpy(&flags, nla_data(option), sizeof(flags));
	flags.mask = flags.flags | VLAN_FLAG_REORDER_HDR;
	nl_request_put(msg, IFLA_VLAN_FLAGS, sizeof(flags), &flags);
}

static void link_copy_put_info(struct nl_msg *msg, const struct link_info *link,
			       struct nlattr *options)
{
	struct nlattr *linkinfo = nl_request_nest(msg, IFLA_LINKINFO), *data, *each;
	int left;

	nl_request_put_text(msg, IFLA_INFO_KIND, link->kind);
	data = nl_request_nest(msg, IFLA_INFO_DATA);
	nla_for_each_nested (each, options, left)
		if (link_copy_is_option(link, nla_type(each)))
			link_copy_put_option(msg, link, each);
		else if (nla_type(each) == IFLA_MACVLAN_MACADDR_DATA)
			link_copy_put_senders(msg, each);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
}

static void link_copy_take(struct nlmsghdr *message, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct link_copy_order *order = arg;
	const struct ifinfomsg head = { 0 };

	if (message->nlmsg_type != RTM_NEWLINK || order->made ||
	    nlmsg_parse(message, sizeof(head), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) < 0 ||
	    !info[IFLA_INFO_DATA])
		return;
	order->made =
		nl_request_new_large(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	nl_request_put_text(order->made, IFLA_IFNAME, order->name);
	nl_request_put_u32(order->made, IFLA_LINK, (uint32_t)order->lower);
	nl_request_put_u32(order->made, IFLA_MTU, order->link->mtu);
	if (!order->has_lower_mac)
		nl_request_put(order->made, IFLA_ADDRESS, XBOND_MAC_SIZE, order->link->mac);
	link_copy_put_info(order->made, order->link, info[IFLA_INFO_DATA]);
}

int link_copy(struct nl *nl, const struct link_info *link, const char *name, int lower,
	      struct err *err)
{
	struct link_copy_order order = { .link = link, .name = name, .lower = lower };
	struct ifinfomsg head = { .ifi_index = link->ifindex };
	struct nl_msg *msg = nl_request_new(RTM_GETLINK, 0, &head, sizeof(head));
	struct link_info below;
	int r;

	order.has_lower_mac =
		!link_get(nl, -1, link->lower, &below) && mac_is_same(below.mac, link->mac);
	r = nl_call(nl, msg, link_copy_take, &order, err);
	if (!r && !order.made)
		return err_set(err, EPROTO, "the options of %s cannot be read", link->name);
	return r ? r : nl_call(nl, order.made, NULL, NULL, err);
}

/*
 * Those that link_copy_sleep() has set, what changes by itself with the device, and what comes
 * first.
 */
static bool link_copy_is_left(const char *file)
{
	return *file == '.' || !strcmp(file, "disable_ipv6") || !strcmp(file, "accept_dad") ||
	       !strcmp(file, "mtu") || !strcmp(file, "stable_secret");
}

void link_copy_sysctls(const char *from, const char *to)
{
	static const char *const directories[] = { "ipv4/conf", "ipv6/conf", "ipv4/neigh",
						   "ipv6/neigh", "mpls/conf" };

	/* The kernel sets addr_gen_mode with it, and refuses some modes without it. */
	sysctl_copy("ipv6/conf", from, to, "stable_secret");
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		char path[128];
		struct dirent *entry;
		DIR *directory;

		snprintf(path, sizeof(path), "/proc/sys/net/%s/%s", directories[i], from);
		directory = opendir(path);
		while (directory && (entry = readdir(directory)))
			if (!link_copy_is_left(entry->d_name))
				sysctl_copy(directories[i], from, to, entry->d_name);
		if (directory)
			closedir(directory);
	}
}

void link_copy_sleep(const char *name)
{
	sysctl_write("ipv6/conf", name, "disable_ipv6", "1");
	sysctl_write("ipv6/conf", name, "accept_dad", "0");
}

void link_copy_wake(const char *name, const char *like)
{
	sysctl_copy("ipv6/conf", like, name, "disable_ipv6");
}

void link_copy_settle(const char *name, const char *like)
{
	sysctl_copy("ipv6/conf", like, name, "accept_dad");
}
