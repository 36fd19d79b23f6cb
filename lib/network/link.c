/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading: requests, dumps and the decoding of link messages; lists of devices; the namespaces. */
#include "network/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/if_bridge.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "network/nl.h"

#define NETKIT_SCRUB 6 /* IFLA_NETKIT_SCRUB of Linux 6.13, which bookworm's headers do not know */

static void link_parse_mac(struct nlattr *attribute, bool *ret_has, uint8_t *ret_mac)
{
	*ret_has = attribute && nla_len(attribute) == XBOND_MAC_SIZE;
	if (*ret_has)
		memcpy(ret_mac, nla_data(attribute), XBOND_MAC_SIZE);
}

static void link_parse_vlan(struct nlattr *data, struct link_info *ret_link)
{
	struct nlattr *id = nla_find(nla_data(data), nla_len(data), IFLA_VLAN_ID);
	struct nlattr *protocol = nla_find(nla_data(data), nla_len(data), IFLA_VLAN_PROTOCOL);

	if (!id || !protocol)
		return;
	ret_link->vlan_id = nl_attr_u16(id, 0);
	ret_link->vlan_protocol = ntohs(nl_attr_u16(protocol, 0));
}

static void link_parse_bridge(struct nlattr *data, struct link_info *ret_link)
{
	struct nlattr *filters = nla_find(nla_data(data), nla_len(data), IFLA_BR_VLAN_FILTERING);
	struct nlattr *protocol = nla_find(nla_data(data), nla_len(data), IFLA_BR_VLAN_PROTOCOL);

	if (nl_attr_u8(filters, 0))
		ret_link->filters_vlans = ntohs(nl_attr_u16(protocol, htons(ETH_P_8021Q)));
}

static void link_parse_kind(struct nlattr *linkinfo, struct link_info *ret_link)
{
	struct nlattr *kind =
		linkinfo ? nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_KIND) : NULL;
	struct nlattr *data =
		linkinfo ? nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_DATA) : NULL;

	if (kind)
		nla_strlcpy(ret_link->kind, kind, sizeof(ret_link->kind));
	if (data && !strcmp(ret_link->kind, "vlan"))
		link_parse_vlan(data, ret_link);
	if (data && !strcmp(ret_link->kind, "bridge"))
		link_parse_bridge(data, ret_link);
	if (data && !strcmp(ret_link->kind, "vxlan"))
		ret_link->tunnel = (int)nl_attr_u32(
			nla_find(nla_data(data), nla_len(data), IFLA_VXLAN_LINK), 0);
	ret_link->keeps_priority = data && !strcmp(ret_link->kind, "netkit") &&
				   nla_find(nla_data(data), nla_len(data), NETKIT_SCRUB);
}

static void link_parse_strings(struct nlattr **tb, struct link_info *ret_link)
{
	if (tb[IFLA_IFNAME])
		nla_strlcpy(ret_link->name, tb[IFLA_IFNAME], sizeof(ret_link->name));
	if (tb[IFLA_QDISC])
		nla_strlcpy(ret_link->qdisc, tb[IFLA_QDISC], sizeof(ret_link->qdisc));
	if (tb[IFLA_IFALIAS])
		nla_strlcpy(ret_link->alias, tb[IFLA_IFALIAS], sizeof(ret_link->alias));
	link_parse_kind(tb[IFLA_LINKINFO], ret_link);
}

static void link_parse_port(struct nlattr *linkinfo, struct link_info *ret_link)
{
	struct nlattr *kind =
		linkinfo ? nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_SLAVE_KIND)
			 : NULL;
	struct nlattr *data =
		linkinfo ? nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_SLAVE_DATA)
			 : NULL;

	if (!data || !nl_attr_is(kind, "bridge"))
		return;
	ret_link->forwards = nl_attr_u8(nla_find(nla_data(data), nla_len(data), IFLA_BRPORT_STATE),
					0) == BR_STATE_FORWARDING;
	ret_link->isolated =
		nl_attr_u8(nla_find(nla_data(data), nla_len(data), IFLA_BRPORT_ISOLATED), 0);
}

static uint32_t link_parse_xdp(struct nlattr *xdp, int where)
{
	return xdp ? nl_attr_u32(nla_find(nla_data(xdp), nla_len(xdp), where), 0) : 0;
}

/* These take the address of the device below for their permanent one. */
static bool link_borrows_address(const char *kind)
{
	return !strcmp(kind, "ipvlan") || !strcmp(kind, "ipvtap") || !strcmp(kind, "macvlan") ||
	       !strcmp(kind, "macvtap") || !strcmp(kind, "dsa");
}

bool link_parse(struct nlmsghdr *message, struct link_info *ret_link)
{
	struct ifinfomsg *info = nlmsg_data(message);
	struct nlattr *tb[IFLA_MAX + 1];

	memset(ret_link, 0, sizeof(*ret_link));
	ret_link->vlan_id = -1;
	if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
		return false;
	if (nlmsg_parse(message, sizeof(*info), tb, IFLA_MAX, NULL) < 0 ||
	    info->ifi_family != AF_UNSPEC)
		return false;
	ret_link->ifindex = info->ifi_index;
	ret_link->type = info->ifi_type;
	ret_link->flags = info->ifi_flags;
	ret_link->mtu = nl_attr_u32(tb[IFLA_MTU], 0);
	ret_link->promiscuity = nl_attr_u32(tb[IFLA_PROMISCUITY], 0);
	ret_link->master = (int)nl_attr_u32(tb[IFLA_MASTER], 0);
	ret_link->lower = (int)nl_attr_u32(tb[IFLA_LINK], 0);
	ret_link->lower_nsid = (int)nl_attr_u32(tb[IFLA_LINK_NETNSID], (uint32_t)-1);
	ret_link->new_nsid = (int)nl_attr_u32(tb[IFLA_NEW_NETNSID], (uint32_t)-1);
	ret_link->new_ifindex = (int)nl_attr_u32(tb[IFLA_NEW_IFINDEX], 0);
	ret_link->carrier = info->ifi_flags & IFF_UP && nl_attr_u8(tb[IFLA_CARRIER], 0);
	ret_link->protodown = nl_attr_u8(tb[IFLA_PROTO_DOWN], 0);
	ret_link->carrier_changes = nl_attr_u32(tb[IFLA_CARRIER_CHANGES], 0);
	link_parse_mac(tb[IFLA_ADDRESS], &ret_link->has_mac, ret_link->mac);
	link_parse_mac(tb[IFLA_PERM_ADDRESS], &ret_link->has_perm_mac, ret_link->perm_mac);
	ret_link->xdp_id = link_parse_xdp(tb[IFLA_XDP], IFLA_XDP_DRV_PROG_ID);
	ret_link->xdp_generic_id = link_parse_xdp(tb[IFLA_XDP], IFLA_XDP_SKB_PROG_ID);
	link_parse_port(tb[IFLA_LINKINFO], ret_link);
	link_parse_strings(tb, ret_link);
	ret_link->has_perm_mac &= !link_borrows_address(ret_link->kind);
	return true;
}

bool link_is_paired(const struct link_info *link)
{
	return !strcmp(link->kind, "veth") || !strcmp(link->kind, "netkit");
}

static struct nl_msg *link_request(int flags, int nsid, int ifindex)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct nl_msg *msg = nl_request_new(RTM_GETLINK, flags, &info, sizeof(info));

	nl_request_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (nsid >= 0)
		nl_request_put_u32(msg, IFLA_TARGET_NETNSID, (uint32_t)nsid);
	return msg;
}

static void link_take_one(struct nlmsghdr *message, void *arg)
{
	link_parse(message, arg);
}

int link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link)
{
	if (ifindex <= 0)
		return -ENODEV;
	return nl_call(nl, link_request(0, nsid, ifindex), link_take_one, ret_link, NULL);
}

bool link_is_down(struct nl *nl, int ifindex)
{
	struct link_info link;

	return !link_get(nl, -1, ifindex, &link) && !(link.flags & IFF_UP);
}

bool link_is_veth(struct nl *nl, int ifindex)
{
	struct link_info link;

	return !link_get(nl, -1, ifindex, &link) && !strcmp(link.kind, "veth");
}

int link_get_by_name(struct nl *nl, const char *name, struct link_info *ret_link)
{
	struct nl_msg *msg = link_request(0, -1, 0);

	nl_request_put_text(msg, IFLA_IFNAME, name);
	return nl_call(nl, msg, link_take_one, ret_link, NULL);
}

struct visit {
	link_visitor visit;
	void *arg;
};

static void link_take_each(struct nlmsghdr *message, void *arg)
{
	struct visit *visit = arg;
	struct link_info link;

	if (link_parse(message, &link))
		visit->visit(&link, visit->arg);
}

int link_visit_once(struct nl *nl, int nsid, link_visitor visit, void *arg)
{
	struct visit context = { .visit = visit, .arg = arg };

	return nl_call(nl, link_request(NLM_F_DUMP, nsid, 0), link_take_each, &context, NULL);
}

int link_visit(struct nl *nl, int nsid, link_visitor visit, void *arg)
{
	int r = -EAGAIN;

	for (int try = 0; try < LINK_TRIES && r == -EAGAIN; try++)
		r = link_visit_once(nl, nsid, visit, arg);
	return r;
}

static void link_list_collect(const struct link_info *link, void *arg)
{
	struct link_list *list = arg;

	memory_more(list->link, list->count);
	list->link[list->count++] = *link;
}

int link_list_read(struct nl *nl, struct link_list *ret_list)
{
	int r = -EAGAIN;

	*ret_list = (struct link_list){ 0 };
	for (int try = 0; try < LINK_TRIES && r == -EAGAIN; try++) {
		ret_list->count = 0;
		r = link_visit_once(nl, -1, link_list_collect, ret_list);
	}
	return r;
}

void link_list_free(struct link_list *list)
{
	free(list->link);
}

#define NAMESPACES_HOME "/proc/thread-self/ns/net"

struct namespaces {
	ino_t *seen; /* home first */
	size_t count;
	dev_t nsfs;
	int home_fd;
};

static void namespaces_take_number(struct nlmsghdr *message, void *arg)
{
	int *number = arg;

	*number = (int)nl_attr_u32(nlmsg_find_attr(message, sizeof(struct rtgenmsg), NETNSA_NSID),
				   (uint32_t)*number);
}

int namespaces_number(struct nl *nl, int fd)
{
	struct rtgenmsg general = { .rtgen_family = AF_UNSPEC };
	int number = -1;
	struct nl_msg *msg = nl_request_new(RTM_GETNSID, 0, &general, sizeof(general));

	nl_request_put_u32(msg, NETNSA_FD, (uint32_t)fd);
	nl_call(nl, msg, namespaces_take_number, &number, NULL);
	return number;
}

static bool namespaces_is_new(struct namespaces *namespaces, ino_t inode)
{
	for (size_t i = 0; i < namespaces->count; i++)
		if (namespaces->seen[i] == inode)
			return false;
	memory_more(namespaces->seen, namespaces->count);
	namespaces->seen[namespaces->count++] = inode;
	return true;
}

static void namespaces_go_home(int home_fd)
{
	if (setns(home_fd, CLONE_NEWNET) < 0)
		abort();
}

int namespaces_inside(int fd, int (*work)(const void *arg), const void *arg)
{
	int home_fd = open(NAMESPACES_HOME, O_RDONLY | O_CLOEXEC), r;

	if (home_fd < 0)
		return -errno;
	r = setns(fd, CLONE_NEWNET) < 0 ? -errno : work(arg);
	namespaces_go_home(home_fd);
	close(home_fd);
	return r;
}

static void namespaces_visit_one(struct namespaces *namespaces, const char *path,
				 void (*visit)(int home_fd, void *arg), void *arg)
{
	struct stat there;
	int fd;

	if (stat(path, &there) || there.st_dev != namespaces->nsfs ||
	    !namespaces_is_new(namespaces, there.st_ino))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!setns(fd, CLONE_NEWNET)) {
		visit(namespaces->home_fd, arg);
		namespaces_go_home(namespaces->home_fd);
	}
	close(fd);
}

static void namespaces_visit_all(struct namespaces *namespaces, const char *pattern,
				 void (*visit)(int home_fd, void *arg), void *arg)
{
	glob_t paths;

	if (glob(pattern, GLOB_NOSORT, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		namespaces_visit_one(namespaces, paths.gl_pathv[i], visit, arg);
	globfree(&paths);
}

void namespaces_visit(void (*visit)(int home_fd, void *arg), void *arg)
{
	struct namespaces namespaces = { .home_fd = open(NAMESPACES_HOME, O_RDONLY | O_CLOEXEC) };
	struct stat home;

	if (namespaces.home_fd >= 0 && !fstat(namespaces.home_fd, &home) &&
	    namespaces_is_new(&namespaces, home.st_ino)) {
		namespaces.nsfs = home.st_dev;
		namespaces_visit_all(&namespaces, "/run/netns/*", visit, arg);
		namespaces_visit_all(&namespaces, "/proc/[0-9]*/ns/net", visit, arg);
	}
	if (namespaces.home_fd >= 0)
		close(namespaces.home_fd);
	free(namespaces.seen);
}

struct namespaces_search {
	const int *lowers;
	size_t count, lower;
	struct link_info *upper;
	bool is_found;
};

static void namespaces_look_at(struct namespaces_search *search, const struct link_info *link,
			       int home)
{
	if (link_is_paired(link) || link->lower_nsid < 0 || link->lower_nsid != home)
		return;
	for (size_t i = 0; i < search->count; i++)
		if (link->lower == search->lowers[i] || link->tunnel == search->lowers[i]) {
			*search->upper = *link;
			search->lower = i;
			search->is_found = true;
		}
}

static void namespaces_search_one(int home_fd, void *arg)
{
	struct link_list links;
	struct nl nl;
	int home;

	if (nl_init(&nl))
		return;
	if (!link_list_read(&nl, &links)) {
		/* A device on one of ours has given our namespace its number by now. */
		home = namespaces_number(&nl, home_fd);
		for (size_t i = 0; i < links.count; i++)
			namespaces_look_at(arg, &links.link[i], home);
	}
	link_list_free(&links);
	nl_done(&nl);
}

bool namespaces_find_upper(const int *lowers, size_t count, struct link_info *ret_upper,
			   size_t *ret_lower)
{
	struct namespaces_search search = { .lowers = lowers, .count = count, .upper = ret_upper };

	namespaces_visit(namespaces_search_one, &search);
	*ret_lower = search.lower;
	return search.is_found;
}

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

uint64_t link_netns_cookie(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) < 0)
		cookie = 0;
	close(fd);
	return cookie;
}

bool link_is_elsewhere(uint64_t netns_cookie)
{
	uint64_t here = link_netns_cookie();

	return here && netns_cookie && here != netns_cookie;
}
