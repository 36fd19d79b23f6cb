/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's answers and messages with any content, to everything in network that reads
 * netlink, and to what reads tables from /proc. libnl's functions that reach the kernel are
 * wrapped: what they receive is made of the input. A message is always of the length that it says,
 * because the kernel's are, and lies in memory of exactly that length.
 */
#include <linux/netconf.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

#include "network/driver.h"
#include "network/filters.h"
#include "network/ip.h"
#include "network/link.h"
#include "network/mac_lists.h"
#include "network/packet.h"
#include "network/rtnl_listener.h"
#include "tests/fuzz/input.h"

#define MESSAGE_MOST 1024

static struct input input;
static uint32_t asked; /* the last request's sequence number */
static nl_recvmsg_msg_cb_t listener;
static void *listener_arg;

int __real_access(const char *path, int mode);
FILE *__real_fopen(const char *path, const char *mode);

int __wrap_nl_connect(struct nl_sock *sock, int protocol)
{
	return 0;
}

int __wrap_nl_send(struct nl_sock *sock, struct nl_msg *msg)
{
	asked = nlmsg_hdr(msg)->nlmsg_seq;
	return 0;
}

static uint16_t netlink_type(uint8_t which)
{
	static const uint16_t types[] = {
		RTM_NEWLINK,
		RTM_DELLINK,
		RTM_NEWQDISC,
		RTM_DELQDISC,
		RTM_NEWTFILTER,
		RTM_DELTFILTER,
		RTM_NEWADDR,
		RTM_DELADDR,
		RTM_NEWNETCONF,
		RTM_NEWNSID,
		NLMSG_ERROR,
		NLMSG_DONE,
		NLMSG_ERROR,
		GENL_ID_CTRL,
		NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN,
		NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN,
		RTM_NEWROUTE,
	};

	return types[which % (sizeof(types) / sizeof(*types))];
}

/* A message, or at the end of the input the acknowledgement. In memory of its length; to be freed.
 */
static struct nlmsghdr *netlink_message(void)
{
	bool is_end = !input.left;
	uint8_t which = input_u8(&input), flags = input_u8(&input);
	size_t size = is_end ? sizeof(struct nlmsgerr) : input_u16(&input) % MESSAGE_MOST;
	struct nlmsghdr *header = malloc(NLMSG_HDRLEN + size);

	if (!header)
		abort();
	*header = (struct nlmsghdr){
		.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size),
		.nlmsg_type = is_end ? NLMSG_ERROR : netlink_type(which),
		.nlmsg_flags = (uint16_t)(flags & 1 ? NLM_F_DUMP_INTR : 0) |
			       (flags & 2 ? NLM_F_ACK_TLVS : 0) | (flags & 4 ? NLM_F_CAPPED : 0),
		.nlmsg_seq = flags & 8 ? 0 : asked,
	};
	input_take(&input, header + 1, size);
	return header;
}

int __wrap_nl_recv(struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **ret_buffer,
		   struct ucred **ret_creds)
{
	struct nlmsghdr *header = netlink_message();

	*ret_buffer = (unsigned char *)header;
	return (int)header->nlmsg_len;
}

int __wrap_nl_socket_modify_cb(struct nl_sock *sock, enum nl_cb_type type, enum nl_cb_kind kind,
			       nl_recvmsg_msg_cb_t function, void *arg)
{
	input_check(type == NL_CB_VALID && kind == NL_CB_CUSTOM, "the listener's function");
	listener = function;
	listener_arg = arg;
	return 0;
}

int __wrap_nl_socket_add_memberships(struct nl_sock *sock, int group, ...)
{
	return 0;
}

int __wrap_nl_recvmsgs_default(struct nl_sock *sock)
{
	struct nlmsghdr *header;
	struct nl_msg *msg;

	if (!input.left)
		return -NLE_AGAIN;
	header = netlink_message();
	if (header->nlmsg_type == NLMSG_ERROR) {
		free(header);
		return -NLE_NOMEM;
	}
	msg = nlmsg_convert(header);
	free(header);
	listener(msg, listener_arg);
	nlmsg_free(msg);
	return 0;
}

/* nftables is there. */
int __wrap_access(const char *path, int mode)
{
	return strncmp(path, "/sys/module/", strlen("/sys/module/")) ? __real_access(path, mode)
								     : 0;
}

/* Every table of /proc is the rest of the input. libFuzzer opens files, too. */
FILE *__wrap_fopen(const char *path, const char *mode)
{
	FILE *file;

	if (strncmp(path, "/proc/", strlen("/proc/")) != 0)
		return __real_fopen(path, mode);
	file = input.left ? fmemopen((void *)(uintptr_t)input.at, input.left, "r") : NULL;
	input.left = 0;
	return file;
}

static void on_link(const struct link_info *link, void *arg)
{
	input_check(strnlen(link->name, sizeof(link->name)) < sizeof(link->name) &&
			    strnlen(link->kind, sizeof(link->kind)) < sizeof(link->kind) &&
			    strnlen(link->alias, sizeof(link->alias)) < sizeof(link->alias) &&
			    strnlen(link->qdisc, sizeof(link->qdisc)) < sizeof(link->qdisc),
		    "texts end");
}

static void on_link_message(const struct link_info *link, bool gone, void *arg)
{
	on_link(link, arg);
}

static void on_qdisc(int ifindex, void *arg)
{
}

static void on_filter(int ifindex, unsigned int priority, unsigned int handle, bool gone, void *arg)
{
	input_check(priority <= UINT16_MAX, "a priority of a filter");
}

static void on_address_message(const struct address *address, bool gone, void *arg)
{
	input_check(address->family == AF_INET || address->family == AF_INET6, "its family");
}

static void on_resync(void *arg)
{
}

static void on_address(const struct address *address, void *arg)
{
	input_check(address->family == AF_INET || address->family == AF_INET6, "its family");
}

static void on_router(int ifindex, void *arg)
{
}

static void on_entry(const struct multicast_entry *entry, void *arg)
{
}

static void on_group(int ifindex, const uint8_t *group, void *arg)
{
}

static bool is_ours(unsigned int priority, unsigned int handle)
{
	return priority == 1 && handle == 1;
}

static void read_links(struct nl *nl)
{
	struct link_info link = { 0 };
	struct link_stats stats;
	struct link_list list;

	switch (input_u8(&input) % 4) {
	case 0:
		if (!link_get(nl, -1, 5, &link))
			on_link(&link, NULL);
		return;
	case 1:
		if (!link_get_by_name(nl, "eth0", &link))
			on_link(&link, NULL);
		return;
	case 2:
		if (!link_stats_get(nl, 5, &stats))
			error_rate_broken(&stats.rx);
		return;
	default:
		link_list_read(nl, &list);
		for (size_t i = 0; i < list.count; i++)
			on_link(&list.link[i], NULL);
		link_list_free(&list);
	}
}

static void read_filters(struct nl *nl)
{
	const struct filter_place place = { .ifindex = 5, .handle = 1, .priority = 1 };
	struct filters_others others;

	switch (input_u8(&input) % 5) {
	case 0: filters_count(nl, 5); return;
	case 1: filters_has_ingress(nl, 5); return;
	case 2: filters_has_clsact(nl, 5); return;
	case 3: filters_are_behind(nl, &place); return;
	default: filters_look(nl, 5, is_ours, &others);
	}
}

static void read_route(struct nl *nl, int family)
{
	static const uint8_t to[16] = { 192, 0, 2, 1 };
	struct route route;

	if (!route_get(nl, family, to, 0, &route) && family == AF_INET)
		for (size_t i = 4; i < sizeof(route.source); i++)
			input_check(!route.source[i], "an IPv4 address of four bytes");
}

static void read_addresses(struct nl *nl)
{
	uint8_t which = input_u8(&input);
	struct address some[2];
	int count;

	if (which & 6) {
		read_route(nl, which & 4 ? AF_INET6 : AF_INET);
		return;
	}
	if (which & 1) {
		address_visit(nl, on_address, NULL);
		return;
	}
	count = address_list(nl, 5, some, 2);
	for (int i = 0; i < count && i < 2; i++)
		on_address(&some[i], NULL);
}

static void on_fdb_entry(const struct fdb_entry *entry, void *arg)
{
	input_check(!(entry->mac[0] & 1), "no multicast address");
}

static void read_others(struct nl *nl)
{
	uint8_t which = input_u8(&input), how[FDB_VLANS];
	uint64_t features;

	if ((which & 192) == 192) {
		fdb_vlans(nl, 5, how);
		return;
	}
	if (which & 128) {
		fdb_visit(nl, 5, on_fdb_entry, NULL);
		return;
	}
	switch (which % 5) {
	case 0: ipv6_visit_routers(nl, on_router, NULL); return;
	case 1: namespaces_number(nl, 3); return;
	case 2: xdp_features_get(5, &features); return;
	case 3: nft_generation(); return;
	default: nft_chains_on("eth0");
	}
}

static void read_messages(void)
{
	static const struct rtnl_listener_callbacks callbacks = { on_link_message, on_qdisc,
								  on_filter, on_address_message,
								  on_resync };
	struct rtnl_listener messages;

	if (rtnl_listener_init(&messages, &callbacks, NULL))
		abort();
	if (input_u8(&input) & 1)
		rtnl_listener_glance(&messages, on_link_message);
	rtnl_listener_read(&messages);
	rtnl_listener_done(&messages);
}

static void read_tables(void)
{
	int captures[4];

	switch (input_u8(&input) % 4) {
	case 0: multicast_list(on_entry, NULL); return;
	case 1: multicast_list_ipv4(on_group, NULL); return;
	case 2: multicast_list_ipv6(on_group, NULL); return;
	default: input_check(capture_list(captures, 4) <= 4, "no more than there is room for");
	}
}

static void change_something(struct nl *nl)
{
	struct err err = { "" };
	int r = link_set_mtu(nl, 5, 1500, &err);

	input_check(!r || err.text[0], "a refusal has words");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nl nl = { 0 };

	input = (struct input){ data, size };
	if (nl_init(&nl))
		abort();
	switch (input_u8(&input) % 7) {
	case 0: read_links(&nl); break;
	case 1: read_filters(&nl); break;
	case 2: read_addresses(&nl); break;
	case 3: read_others(&nl); break;
	case 4: read_messages(); break;
	case 5: read_tables(); break;
	default: change_something(&nl);
	}
	nl_done(&nl);
	return 0;
}
