/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of devices when it changes while it is read; the kernel's answers are by hand. A request
 * that is longer than a message. And ports and tables of bridges, of which not all kernels have
 * all.
 */
#include <errno.h>
#include <limits.h>
#include <linux/if_bridge.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "daemon/bond/daemon.h"
#include "network/link.h"
#include "network/mac_lists.h"
#include "network/netconf.h"
#include "tests/unit/unit.h"

static int changes; /* how often the list still changes */
static int asked;

int __real_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err);

static void tell(int ifindex, nl_handler handler, void *arg)
{
	const struct ifinfomsg head = { .ifi_index = ifindex };
	struct nl_msg *msg = nl_request_new(RTM_NEWLINK, 0, &head, sizeof(head));

	handler(nlmsg_hdr(msg), arg);
	nlmsg_free(msg);
}

static int tell_bridge(struct nl_msg *request, nl_handler handler, void *arg);

int __wrap_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err)
{
	if (nlmsg_hdr(msg)->nlmsg_type == RTM_GETNEIGH || nlmsg_hdr(msg)->nlmsg_type == RTM_GETVLAN)
		return tell_bridge(msg, handler, arg);
	if (nlmsg_hdr(msg)->nlmsg_type != RTM_GETLINK)
		return __real_nl_call(nl, msg, handler, arg, err);
	asked++;
	nlmsg_free(msg);
	tell(3, handler, arg);
	if (!changes)
		return 0;
	tell(2, handler, arg);
	changes--;
	return -EAGAIN;
}

TEST(each_device_stands_once)
{
	struct link_list list;

	for (int times = 0; times < 3; times++) {
		changes = times;
		assert_int_equal(link_list_read(NULL, &list), 0);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.link[0].ifindex, 3);
		link_list_free(&list);
	}
}

TEST(a_list_that_never_rests_is_an_error)
{
	struct link_list list;

	changes = 1000;
	assert_int_equal(link_list_read(NULL, &list), -EAGAIN);
	link_list_free(&list);
}

/* This one by the kernel: the message that ends a list tells of the error. */
TEST(a_list_that_the_kernel_cannot_make_is_an_error)
{
	struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nl_request_new(RTM_GETLINK, NLM_F_DUMP, &head, sizeof(head));
	struct nl nl;

	nl_request_put_u32(msg, IFLA_TARGET_NETNSID, INT_MAX); /* there is no such namespace */
	assert_int_equal(nl_init(&nl), 0);
	assert_true(__real_nl_call(&nl, msg, NULL, NULL, NULL) < 0);
	nl_done(&nl);
}

/* And not by each slave that is looked at. */
TEST(it_is_tried_once)
{
	struct daemon daemon = { 0 };
	int once;

	changes = 1000;
	asked = 0;
	assert_null(daemon_links(&daemon));
	once = asked;
	assert_null(daemon_links(&daemon));
	assert_int_equal(asked, once);
	daemon_forget_links(&daemon);
	changes = 0;
	assert_int_equal(daemon_links(&daemon)->count, 1);
	daemon_forget_links(&daemon);
}

/* The message has room for a page; what is left of it would change nothing, and be acknowledged. */
TEST(a_request_that_is_too_long_is_not_sent_in_part)
{
	char alias[8192];
	struct nl none = { 0 }; /* nothing is sent */

	memset(alias, 'x', sizeof(alias) - 1);
	alias[sizeof(alias) - 1] = '\0';
	assert_int_equal(link_set_alias(&none, 1, alias, NULL), -EMSGSIZE);
}

#define PORT 7
#define ROOM 2048

static void put_vlan(struct nl_msg *msg, int vid)
{
	const struct bridge_vlan_info vlan = { .vid = (__u16)vid };

	nl_request_put(msg, IFLA_BRIDGE_VLAN_INFO, sizeof(vlan), &vlan);
}

/* What a bridge says of a port that has these VLANs, as requests for another port. */
static struct netconf port_with(const int *vids, size_t count)
{
	const struct netconf_device port = { PORT, PORT };
	const struct ifinfomsg head = { .ifi_family = AF_BRIDGE, .ifi_index = PORT };
	struct nl_msg *msg = nl_request_new_large(RTM_NEWLINK, 0, &head, sizeof(head));
	struct netconf conf = { 0 };
	struct netconf_source source = { .devices = &port, .count = 1, .conf = &conf };
	struct nlattr *vlans;

	nl_request_put_u32(msg, IFLA_MASTER, 1);
	vlans = count ? nl_request_nest(msg, IFLA_AF_SPEC) : NULL;
	for (size_t i = 0; i < count; i++)
		put_vlan(msg, vids[i]);
	if (vlans)
		nl_request_end(msg, vlans);
	netconf_take_bridge_vlans(nlmsg_hdr(msg), &source);
	nlmsg_free(msg);
	return conf;
}

/* The VLANs of a request, as a user of bridge(8) writes them. */
static void write_vlans(struct nlmsghdr *request, char ret_text[ROOM])
{
	struct nlattr *vlans = nlmsg_find_attr(request, sizeof(struct ifinfomsg), IFLA_AF_SPEC);
	struct bridge_vlan_info vlan;
	struct nlattr *each;
	int left, used = 0;

	assert_int_equal(((struct ifinfomsg *)nlmsg_data(request))->ifi_index, PORT);
	ret_text[0] = '\0';
	if (!vlans)
		return;
	nla_for_each_nested (each, vlans, left) {
		memcpy(&vlan, nla_data(each), sizeof(vlan));
		used += snprintf(ret_text + used, (size_t)(ROOM - used), "%u%s", vlan.vid,
				 vlan.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN ? "-" : " ");
	}
}

/* Also of the one that the bridge gives to every new port, which may be any. */
TEST(a_new_port_has_no_other_vlans)
{
	static int all[4094];
	const struct {
		int vids[4];
		size_t count;
		const char *gone, *set;
	} cases[] = {
		{ { 10, 20, 21, 22 }, 4, "1-9 11-19 23-4094 ", "10 20 21 22 " },
		{ { 1, 4094 }, 2, "2-4093 ", "1 4094 " },
		{ { 2, 4, 4093 }, 3, "1 3 5-4092 4094 ", "2 4 4093 " },
		{ { 0 }, 0, "1-4094 ", "" },
	};
	struct netconf conf;
	char text[ROOM];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		conf = port_with(cases[i].vids, cases[i].count);
		assert_int_equal(conf.count, cases[i].count ? 2 : 1);
		assert_int_equal(conf.request[0]->nlmsg_type, RTM_DELLINK);
		write_vlans(conf.request[0], text);
		assert_string_equal(text, cases[i].gone);
		if (cases[i].count) {
			assert_int_equal(conf.request[1]->nlmsg_type, RTM_SETLINK);
			write_vlans(conf.request[1], text);
			assert_string_equal(text, cases[i].set);
		}
		netconf_free(&conf);
	}
	for (int i = 0; i < 4094; i++)
		all[i] = i + 1;
	conf = port_with(all, 4094);
	assert_int_equal(conf.count, 2);
	write_vlans(conf.request[0], text);
	assert_string_equal(text, "");
	netconf_free(&conf);
}

/* Numbers, because older headers lack names of some. */
TEST(a_port_keeps_its_options_but_not_its_state)
{
	const struct netconf_device port = { PORT, PORT };
	const struct ifinfomsg head = { .ifi_index = PORT };
	struct nl_msg *msg = nl_request_new(RTM_NEWLINK, 0, &head, sizeof(head));
	struct netconf conf = { 0 };
	struct netconf_source source = { .devices = &port, .count = 1, .conf = &conf };
	struct nlattr *info, *data, *each;
	int left, kept = 0;

	nl_request_put_u32(msg, IFLA_MASTER, 1);
	info = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_SLAVE_KIND, "bridge");
	data = nl_request_nest(msg, IFLA_INFO_SLAVE_DATA);
	for (int type = IFLA_BRPORT_STATE; type <= 44; type++)
		nl_request_put_u32(msg, type, 1);
	nl_request_end(msg, data);
	nl_request_end(msg, info);
	netconf_take_link(nlmsg_hdr(msg), &source);
	nlmsg_free(msg);
	info = nlmsg_find_attr(conf.request[conf.count - 1], sizeof(head), IFLA_LINKINFO);
	data = nla_find(nla_data(info), nla_len(info), IFLA_INFO_SLAVE_DATA);
	nla_for_each_nested (each, data, left) {
		int type = nla_type(each);

		kept++;
		assert_false(type == IFLA_BRPORT_STATE || type == IFLA_BRPORT_MCAST_EHT_HOSTS_CNT);
	}
	for (int type = 37; type <= 44; type++)
		assert_int_equal(type == 38 || type == 41,
				 !nla_find(nla_data(data), nla_len(data), type));
	assert_int_equal(kept, 25);
	netconf_free(&conf);
}

/* A bridge's table. */

#define BRIDGE 5
#define EXT_LOCKED 2

static void tell_entry(const struct ndmsg *head, uint32_t extended, uint8_t number,
		       nl_handler handler, void *arg)
{
	struct nl_msg *msg = nl_request_new(RTM_NEWNEIGH, 0, head, sizeof(*head));
	const uint8_t mac[XBOND_MAC_SIZE] = { 2, [5] = number };

	nl_request_put(msg, NDA_LLADDR, sizeof(mac), mac);
	nl_request_put_u32(msg, NDA_MASTER, BRIDGE);
	nl_request_put_u16(msg, NDA_VLAN, 10);
	if (extended)
		nl_request_put_u32(msg, NDA_FLAGS_EXT, extended);
	handler(nlmsg_hdr(msg), arg);
	nlmsg_free(msg);
}

static void tell_table(nl_handler handler, void *arg)
{
	static const struct {
		uint8_t flags;
		uint16_t state;
		uint32_t extended;
	} entries[] = {
		{ 0, NUD_REACHABLE, 0 },
		{ 0, NUD_NOARP, 0 },
		{ NTF_EXT_LEARNED | NTF_OFFLOADED, NUD_REACHABLE, 0 },
		{ 0, NUD_PERMANENT, 0 },
		{ NTF_SELF, NUD_NOARP, 0 },
		{ NTF_EXT_LEARNED, NUD_NOARP, 0 },
		{ 0, NUD_REACHABLE, EXT_LOCKED },
	};

	for (uint8_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct ndmsg head = { .ndm_family = AF_BRIDGE,
					    .ndm_ifindex = PORT,
					    .ndm_state = entries[i].state,
					    .ndm_flags = entries[i].flags };

		tell_entry(&head, entries[i].extended, i, handler, arg);
	}
}

static void tell_vlan(struct nl_msg *msg, uint16_t from, uint16_t to, uint16_t flags, uint8_t state)
{
	const struct bridge_vlan_info info = { .flags = flags, .vid = from };
	struct nlattr *entry = nl_request_nest(msg, BRIDGE_VLANDB_ENTRY);

	nl_request_put(msg, BRIDGE_VLANDB_ENTRY_INFO, sizeof(info), &info);
	if (to != from)
		nl_request_put_u16(msg, BRIDGE_VLANDB_ENTRY_RANGE, to);
	nl_request_put_u8(msg, BRIDGE_VLANDB_ENTRY_STATE, state);
	nl_request_end(msg, entry);
}

static void tell_vlans(nl_handler handler, void *arg)
{
	const struct br_vlan_msg head = { .family = AF_BRIDGE, .ifindex = PORT };
	struct nl_msg *msg = nl_request_new(RTM_NEWVLAN, 0, &head, sizeof(head));

	tell_vlan(msg, 1, 1, BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED,
		  BR_STATE_FORWARDING);
	tell_vlan(msg, 10, 12, 0, BR_STATE_FORWARDING);
	tell_vlan(msg, 20, 20, 0, BR_STATE_BLOCKING);
	tell_vlan(msg, 4000, 0xffff, 0, BR_STATE_FORWARDING);
	handler(nlmsg_hdr(msg), arg);
	nlmsg_free(msg);
}

static int tell_bridge(struct nl_msg *request, nl_handler handler, void *arg)
{
	if (nlmsg_hdr(request)->nlmsg_type == RTM_GETNEIGH)
		tell_table(handler, arg);
	else
		tell_vlans(handler, arg);
	nlmsg_free(request);
	return 0;
}

static void take_entry(const struct fdb_entry *entry, void *arg)
{
	unsigned int *seen = arg;

	assert_int_equal(entry->port, PORT);
	assert_int_equal(entry->vlan, 10);
	*seen |= 1u << entry->mac[5];
}

/* Learnt, set by hand, or learnt by a switch in hardware. */
TEST(a_bridge_has_machines_of_which_it_knows_itself)
{
	unsigned int seen = 0;

	assert_int_equal(fdb_visit(NULL, BRIDGE, take_entry, &seen), 0);
	assert_int_equal(seen, 7);
}

TEST(a_port_sends_vlans_with_and_without_tags)
{
	static const int tagged[] = { 10, 11, 12, 4000, 4095 },
			 absent[] = { 0, 2, 9, 13, 20, 3999 };
	uint8_t how[FDB_VLANS];

	assert_int_equal(fdb_vlans(NULL, PORT, how), 0);
	assert_int_equal(how[1], FDB_UNTAGGED);
	for (size_t i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++)
		assert_int_equal(how[tagged[i]], FDB_TAGGED);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_int_equal(how[absent[i]], FDB_NOT);
}
