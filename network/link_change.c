/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing devices: attributes, flags, pairs, unicast filters. */
#include "network/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

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
	struct nl_msg *msg = nl_request_new(type, flags, info, sizeof(*info));

	return msg;
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
	int r = link_set_mac(nl, link->ifindex, mac, err), up;

	if (r != -EBUSY || !(link->flags & IFF_UP))
		return r;
	r = link_set_flags(nl, link->ifindex, 0, IFF_UP, err);
	if (r)
		return r;
	r = link_set_mac(nl, link->ifindex, mac, err);
	up = link_set_flags(nl, link->ifindex, IFF_UP, IFF_UP, r ? NULL : err);
	return r ? r : up;
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

int link_set_name(struct nl *nl, int ifindex, const char *name, struct err *err)
{
	struct nl_msg *msg = link_set_request(ifindex);

	nl_request_put_text(msg, IFLA_IFNAME, name);
	return nl_call(nl, msg, NULL, NULL, err);
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

	nl_request_put_s32(msg, IFLA_XDP_FD, -1);
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
