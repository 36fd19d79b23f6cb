/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/mac_lists.h"

#include <errno.h>
#include <linux/if_bridge.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/mac.h"
#include "network/nl.h"

/* Multicast, by ioctl and /proc/net/dev_mcast. */

#define READ_SIZE 65536

const uint8_t multicast_slow_protocols[XBOND_MAC_SIZE] = { 0x01, 0x80, 0xc2, 0, 0, 0x02 };

/* Uses the name that the device has now. */
static int multicast_change(unsigned long request, int ifindex, const uint8_t *mac)
{
	struct ifreq ifr = { .ifr_ifindex = ifindex };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFNAME, &ifr) < 0)
		r = -errno;
	memset(&ifr.ifr_hwaddr, 0, sizeof(ifr.ifr_hwaddr));
	ifr.ifr_hwaddr.sa_family = AF_UNSPEC;
	memcpy(ifr.ifr_hwaddr.sa_data, mac, XBOND_MAC_SIZE);
	if (!r && ioctl(fd, request, &ifr) < 0)
		r = -errno;
	close(fd);
	return r;
}

int multicast_add(int ifindex, const uint8_t mac[XBOND_MAC_SIZE])
{
	return multicast_change(SIOCADDMULTI, ifindex, mac);
}

int multicast_delete(int ifindex, const uint8_t mac[XBOND_MAC_SIZE])
{
	return multicast_change(SIOCDELMULTI, ifindex, mac);
}

/* Returns false if the text does not have so many bytes. */
static bool multicast_parse_hex(const char *text, uint8_t *ret_bytes, size_t size)
{
	if (strlen(text) != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++)
		sscanf(text + 2 * i, "%2hhx", &ret_bytes[i]);
	return true;
}

static bool multicast_parse_mac(const char *text, uint8_t *ret_mac)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 16);

	if (end != text + 2 * XBOND_MAC_SIZE)
		return false;
	for (int i = 0; i < XBOND_MAC_SIZE; i++)
		ret_mac[i] = (uint8_t)(number >> 8 * (XBOND_MAC_SIZE - 1 - i));
	return true;
}

/*
 * A line has: ifindex, name, uses, whether one use is static, address. There may be very many
 * lines, so sscanf() would be too slow.
 */
static bool multicast_parse_entry(const char *line, struct multicast_entry *ret_entry)
{
	char *at;

	ret_entry->ifindex = (int)strtol(line, &at, 10);
	at += strspn(at, " ");
	at += strcspn(at, " ");
	strtol(at, &at, 10);
	ret_entry->is_static = strtol(at, &at, 10) != 0;
	return multicast_parse_mac(at + strspn(at, " "), ret_entry->mac);
}

int multicast_list(multicast_visit visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/dev_mcast", "re");
	struct multicast_entry entry;
	char line[256];

	if (!file)
		return -errno;
	setvbuf(file, NULL, _IOFBF, READ_SIZE);
	while (fgets(line, sizeof(line), file))
		if (multicast_parse_entry(line, &entry))
			visit(&entry, arg);
	fclose(file);
	return 0;
}

static void multicast_look_for(const struct multicast_entry *entry, void *arg)
{
	struct multicast_entry *wanted = arg;

	if (entry->ifindex == wanted->ifindex && mac_is_same(entry->mac, wanted->mac))
		wanted->is_static = entry->is_static;
}

int multicast_is_static(int ifindex, const uint8_t mac[XBOND_MAC_SIZE])
{
	struct multicast_entry wanted = { .ifindex = ifindex };
	int r;

	memcpy(wanted.mac, mac, XBOND_MAC_SIZE);
	r = multicast_list(multicast_look_for, &wanted);
	return r ? r : wanted.is_static;
}

/*
 * The line of a device begins with its number. Its groups follow, indented, each as a number that
 * is the word in memory.
 */
int multicast_list_ipv4(multicast_group visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/igmp", "re");
	uint32_t group;
	int ifindex = 0;
	char line[256];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] != '\t')
			ifindex = atoi(line);
		else if (sscanf(line, " %8x", &group) == 1)
			visit(ifindex, (const uint8_t *)&group, arg);
	}
	fclose(file);
	return 0;
}

/* A line has: ifindex, name, address. */
int multicast_list_ipv6(multicast_group visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/igmp6", "re");
	char line[256], text[33];
	uint8_t group[16];
	int ifindex;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%d %*s %32[0-9a-f]", &ifindex, text) == 2 &&
		    multicast_parse_hex(text, group, sizeof(group)))
			visit(ifindex, group, arg);
	fclose(file);
	return 0;
}

/* Secondary unicast addresses. */

struct unicast_visit {
	int ifindex;
	unicast_visitor visitor;
	void *arg;
};

/* The kernel lists multicast addresses, too. */
static void unicast_take(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *entry = nlmsg_data(message);
	struct nlattr *tb[NDA_MAX + 1];
	struct unicast_visit *visit = arg;
	const uint8_t *mac;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*entry), tb, NDA_MAX, NULL) < 0 ||
	    entry->ndm_ifindex != visit->ifindex || !(entry->ndm_flags & NTF_SELF) ||
	    !tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != XBOND_MAC_SIZE)
		return;
	mac = nla_data(tb[NDA_LLADDR]);
	if (!(mac[0] & 1))
		visit->visitor(mac, visit->arg);
}

/* The kernel finds the device in a header of this kind only. */
int unicast_visit(struct nl *nl, int ifindex, unicast_visitor visitor, void *arg)
{
	const struct ifinfomsg device = { .ifi_family = AF_BRIDGE, .ifi_index = ifindex };
	struct nl_msg *msg = nl_request_new(RTM_GETNEIGH, NLM_F_DUMP, &device, sizeof(device));
	struct unicast_visit visit = { ifindex, visitor, arg };

	return nl_call(nl, msg, unicast_take, &visit, NULL);
}

/* A bridge's. */

#define EXT_LOCKED 2 /* NTF_EXT_LOCKED of Linux 6.2, which bookworm's headers do not know */

struct fdb_visit {
	int bridge;
	fdb_visitor visitor;
	void *arg;
};

/* What a switch in hardware has learnt for the bridge is offloaded, too. */
static bool fdb_is_of_others(const struct ndmsg *neighbour, const struct nlattr *extended)
{
	return (neighbour->ndm_flags & (NTF_EXT_LEARNED | NTF_OFFLOADED)) == NTF_EXT_LEARNED ||
	       nl_attr_u32(extended, 0) & EXT_LOCKED;
}

static void fdb_take(struct nlmsghdr *message, void *arg)
{
	const struct ndmsg *neighbour = nlmsg_data(message);
	struct nlattr *tb[NDA_MAX + 1];
	struct fdb_entry entry = { 0 };
	struct fdb_visit *visit = arg;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
	    nlmsg_parse(message, sizeof(*neighbour), tb, NDA_MAX, NULL) < 0 ||
	    neighbour->ndm_flags & NTF_SELF || neighbour->ndm_state & NUD_PERMANENT ||
	    fdb_is_of_others(neighbour, tb[NDA_FLAGS_EXT]) ||
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
	struct fdb_visit visit = { bridge, visitor, arg };

	nl_request_put_u32(msg, IFLA_MASTER, (uint32_t)bridge);
	return nl_call(nl, msg, fdb_take, &visit, NULL);
}

static void fdb_take_vlans(struct nlattr *entry, uint8_t *ret_how)
{
	struct nlattr *tb[BRIDGE_VLANDB_ENTRY_MAX + 1];
	struct bridge_vlan_info *info;

	if (nla_parse_nested(tb, BRIDGE_VLANDB_ENTRY_MAX, entry, NULL) < 0 ||
	    !tb[BRIDGE_VLANDB_ENTRY_INFO] ||
	    nla_len(tb[BRIDGE_VLANDB_ENTRY_INFO]) < (int)sizeof(*info) ||
	    nl_attr_u8(tb[BRIDGE_VLANDB_ENTRY_STATE], BR_STATE_FORWARDING) != BR_STATE_FORWARDING)
		return;
	info = nla_data(tb[BRIDGE_VLANDB_ENTRY_INFO]);
	for (unsigned int vlan = info->vid;
	     vlan <= nl_attr_u16(tb[BRIDGE_VLANDB_ENTRY_RANGE], info->vid) && vlan < FDB_VLANS;
	     vlan++)
		ret_how[vlan] = info->flags & BRIDGE_VLAN_INFO_UNTAGGED ? FDB_UNTAGGED : FDB_TAGGED;
}

static void fdb_take_port(struct nlmsghdr *message, void *arg)
{
	struct nlattr *attribute;
	int left;

	if (message->nlmsg_type != RTM_NEWVLAN ||
	    !nlmsg_valid_hdr(message, sizeof(struct br_vlan_msg)))
		return;
	nlmsg_for_each_attr (attribute, message, sizeof(struct br_vlan_msg), left)
		if (nla_type(attribute) == BRIDGE_VLANDB_ENTRY)
			fdb_take_vlans(attribute, arg);
}

int fdb_vlans(struct nl *nl, int port, uint8_t ret_how[FDB_VLANS])
{
	const struct br_vlan_msg head = { .family = AF_BRIDGE, .ifindex = (uint32_t)port };
	struct nl_msg *msg = nl_request_new(RTM_GETVLAN, NLM_F_DUMP, &head, sizeof(head));

	memset(ret_how, FDB_NOT, FDB_VLANS);
	return nl_call(nl, msg, fdb_take_port, ret_how, NULL);
}
