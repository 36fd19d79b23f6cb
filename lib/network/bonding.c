/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/bonding.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_link.h>
#include <linux/if_team.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "common/mode.h"
#include "network/nl.h"
#include "options/option_set.h"

/* Bonding. */

/* IFLA_BOND_* of Linux 6.17 and later, which bookworm's headers do not know. */
#define BOND_BROADCAST_NEIGH 33
#define BOND_LACP_STRICT 34
#define ATTRIBUTES_MAX 64
#define SLAVE_HAS_LINK 0 /* IFLA_BOND_SLAVE_MII_STATUS */

enum bonding_type { TYPE_U8, TYPE_U16, TYPE_U32, TYPE_MAC, TYPE_DEVICE, TYPE_ADDRESSES };

#define IN_MODE(mode) (1u << (mode))
#define IN_ALL_MODES UINT32_MAX
#define IN_AD IN_MODE(XBOND_MODE_8023AD)
#define IN_TLB (IN_MODE(XBOND_MODE_BALANCE_TLB) | IN_MODE(XBOND_MODE_BALANCE_ALB))
#define IN_ACTIVE (IN_MODE(XBOND_MODE_ACTIVE_BACKUP) | IN_TLB)
#define IN_PROBED                                                             \
	(IN_MODE(XBOND_MODE_BALANCE_RR) | IN_MODE(XBOND_MODE_ACTIVE_BACKUP) | \
	 IN_MODE(XBOND_MODE_BALANCE_XOR) | IN_MODE(XBOND_MODE_BROADCAST))

struct bonding_row {
	enum option_id id;
	int attribute; /* IFLA_BOND_* or IFLA_BOND_SLAVE_* */
	enum bonding_type type;
	uint32_t modes; /* in which the driver takes it */
};

/* The mode comes first: whether others are allowed depends on it. */
static const struct bonding_row bond_rows[] = {
	{ OPT_MODE, IFLA_BOND_MODE, TYPE_U8, IN_ALL_MODES },
	{ OPT_MIIMON, IFLA_BOND_MIIMON, TYPE_U32, IN_ALL_MODES },
	{ OPT_UPDELAY, IFLA_BOND_UPDELAY, TYPE_U32, IN_ALL_MODES },
	{ OPT_DOWNDELAY, IFLA_BOND_DOWNDELAY, TYPE_U32, IN_ALL_MODES },
	{ OPT_ARP_INTERVAL, IFLA_BOND_ARP_INTERVAL, TYPE_U32, IN_PROBED },
	{ OPT_ARP_IP_TARGET, IFLA_BOND_ARP_IP_TARGET, TYPE_ADDRESSES, IN_PROBED },
	{ OPT_ARP_VALIDATE, IFLA_BOND_ARP_VALIDATE, TYPE_U32, IN_PROBED },
	{ OPT_ARP_ALL_TARGETS, IFLA_BOND_ARP_ALL_TARGETS, TYPE_U32, IN_ALL_MODES },
	{ OPT_ARP_MISSED_MAX, IFLA_BOND_MISSED_MAX, TYPE_U8, IN_PROBED },
	{ OPT_NS_IP6_TARGET, IFLA_BOND_NS_IP6_TARGET, TYPE_ADDRESSES, IN_PROBED },
	{ OPT_PRIMARY, IFLA_BOND_PRIMARY, TYPE_DEVICE, IN_ACTIVE },
	{ OPT_PRIMARY_RESELECT, IFLA_BOND_PRIMARY_RESELECT, TYPE_U8, IN_ACTIVE },
	{ OPT_FAIL_OVER_MAC, IFLA_BOND_FAIL_OVER_MAC, TYPE_U8, IN_ALL_MODES },
	{ OPT_XMIT_HASH_POLICY, IFLA_BOND_XMIT_HASH_POLICY, TYPE_U8, IN_ALL_MODES },
	{ OPT_RESEND_IGMP, IFLA_BOND_RESEND_IGMP, TYPE_U32, IN_ALL_MODES },
	{ OPT_NUM_GRAT_ARP, IFLA_BOND_NUM_PEER_NOTIF, TYPE_U8, IN_ALL_MODES },
	{ OPT_PEER_NOTIF_DELAY, IFLA_BOND_PEER_NOTIF_DELAY, TYPE_U32, IN_ALL_MODES },
	{ OPT_ALL_SLAVES_ACTIVE, IFLA_BOND_ALL_SLAVES_ACTIVE, TYPE_U8, IN_ALL_MODES },
	{ OPT_MIN_LINKS, IFLA_BOND_MIN_LINKS, TYPE_U32, IN_ALL_MODES },
	{ OPT_PACKETS_PER_SLAVE, IFLA_BOND_PACKETS_PER_SLAVE, TYPE_U32,
	  IN_MODE(XBOND_MODE_BALANCE_RR) },
	{ OPT_TLB_DYNAMIC_LB, IFLA_BOND_TLB_DYNAMIC_LB, TYPE_U8, IN_TLB },
	{ OPT_LP_INTERVAL, IFLA_BOND_LP_INTERVAL, TYPE_U32, IN_ALL_MODES },
	{ OPT_LACP_RATE, IFLA_BOND_AD_LACP_RATE, TYPE_U8, IN_AD },
	{ OPT_LACP_ACTIVE, IFLA_BOND_AD_LACP_ACTIVE, TYPE_U8, IN_AD },
	{ OPT_AD_SELECT, IFLA_BOND_AD_SELECT, TYPE_U8, IN_AD },
	{ OPT_AD_ACTOR_SYS_PRIO, IFLA_BOND_AD_ACTOR_SYS_PRIO, TYPE_U16, IN_AD },
	{ OPT_AD_USER_PORT_KEY, IFLA_BOND_AD_USER_PORT_KEY, TYPE_U16, IN_AD },
	{ OPT_AD_ACTOR_SYSTEM, IFLA_BOND_AD_ACTOR_SYSTEM, TYPE_MAC, IN_AD },
	{ OPT_COUPLED_CONTROL, IFLA_BOND_COUPLED_CONTROL, TYPE_U8, IN_AD },
	{ OPT_BROADCAST_NEIGHBOR, BOND_BROADCAST_NEIGH, TYPE_U8, IN_AD },
	{ OPT_LACP_STRICT, BOND_LACP_STRICT, TYPE_U8, IN_AD },
};

static const struct bonding_row slave_rows[] = {
	{ OPT_QUEUE_ID, IFLA_BOND_SLAVE_QUEUE_ID, TYPE_U16, IN_ALL_MODES },
	{ OPT_PRIO, IFLA_BOND_SLAVE_PRIO, TYPE_U32, IN_ACTIVE },
	{ OPT_ACTOR_PORT_PRIO, IFLA_BOND_SLAVE_ACTOR_PORT_PRIO, TYPE_U16, IN_AD },
};

#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

/* What is read: attributes of one device, as far as they are there. */
struct bonding_answer {
	struct nl *nl;
	struct option_set *options;
	struct bonding_slave *slave;
	int active_slave; /* of a bond: ifindex, or 0 */
	bool found;
};

static void bonding_take_addresses(const struct option_spec *option, struct nlattr *list,
				   struct option_value *ret_value)
{
	size_t size = option_address_size(option);
	struct nlattr *each;
	unsigned int count = 0;
	int left;

	nla_for_each_nested (each, list, left)
		if (nla_len(each) == (int)size && count < XBOND_MAX_TARGETS)
			memcpy(ret_value->address[count++], nla_data(each), size);
}

static void bonding_take_device(struct nl *nl, const struct nlattr *attribute,
				struct option_value *ret_value)
{
	struct link_info link;

	if (!link_get(nl, -1, (int)nl_attr_u32(attribute, 0), &link))
		memcpy(ret_value->name, link.name, sizeof(ret_value->name));
}

static void bonding_take_value(struct nl *nl, const struct bonding_row *row,
			       struct nlattr *attribute, struct option_value *ret_value)
{
	switch (row->type) {
	case TYPE_U8: ret_value->number = nl_attr_u8(attribute, 0); break;
	case TYPE_U16: ret_value->number = nl_attr_u16(attribute, 0); break;
	case TYPE_U32: ret_value->number = nl_attr_u32(attribute, 0); break;
	case TYPE_DEVICE: bonding_take_device(nl, attribute, ret_value); break;
	case TYPE_MAC:
		if (nla_len(attribute) == XBOND_MAC_SIZE)
			memcpy(ret_value->mac, nla_data(attribute), XBOND_MAC_SIZE);
		break;
	case TYPE_ADDRESSES:
		bonding_take_addresses(option_at(row->id), attribute, ret_value);
		break;
	}
}

static void bonding_take_rows(struct nl *nl, struct nlattr **tb, const struct bonding_row *rows,
			      size_t count, struct option_set *ret_options)
{
	memset(ret_options, 0, sizeof(*ret_options));
	for (size_t i = 0; i < count; i++) {
		struct option_value *value = &ret_options->value[rows[i].id];
		struct nlattr *attribute = tb[rows[i].attribute];

		if (attribute)
			bonding_take_value(nl, &rows[i], attribute, value);
		ret_options->given[rows[i].id] =
			attribute && !option_is_default(option_at(rows[i].id), value);
	}
}

/* NULL: it is of another kind. */
static struct nlattr *bonding_find(struct nlmsghdr *message, int kind, int data)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];

	if (message->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(message, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 ||
	    !tb[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) < 0)
		return NULL;
	return nl_attr_is(info[kind], "bond") ? info[data] : NULL;
}

static void bonding_take(struct nlmsghdr *message, void *arg)
{
	struct nlattr *data = bonding_find(message, IFLA_INFO_KIND, IFLA_INFO_DATA);
	struct bonding_answer *answer = arg;
	struct nlattr *tb[ATTRIBUTES_MAX + 1];

	if (!data || nla_parse_nested(tb, ATTRIBUTES_MAX, data, NULL) < 0)
		return;
	bonding_take_rows(answer->nl, tb, ROWS(bond_rows), answer->options);
	answer->active_slave = (int)nl_attr_u32(tb[IFLA_BOND_ACTIVE_SLAVE], 0);
	answer->found = true;
}

/* Our port may distribute a little before the partner's collects. Without LACP there is none. */
static bool bonding_port_works(struct nlattr **tb)
{
	struct nlattr *actor = tb[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE];
	struct nlattr *partner = tb[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE];

	return !actor || (nl_attr_u8(actor, 0) & LACP_DISTRIBUTING &&
			  nl_attr_u8(partner, 0) & LACP_COLLECTING);
}

static void bonding_take_slave(struct nlmsghdr *message, void *arg)
{
	struct nlattr *data = bonding_find(message, IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA);
	struct bonding_answer *answer = arg;
	struct bonding_slave *slave = answer->slave;
	struct nlattr *tb[ATTRIBUTES_MAX + 1];

	if (!data || nla_parse_nested(tb, ATTRIBUTES_MAX, data, NULL) < 0)
		return;
	bonding_take_rows(answer->nl, tb, ROWS(slave_rows), &slave->options);
	slave->has_link = nl_attr_u8(tb[IFLA_BOND_SLAVE_MII_STATUS], 1) == SLAVE_HAS_LINK;
	slave->has_aggregator = tb[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE];
	slave->distributes = slave->has_link && bonding_port_works(tb);
	answer->found = true;
}

static int bonding_ask(struct nl *nl, int ifindex, nl_handler take, struct bonding_answer *answer)
{
	struct ifinfomsg info = { .ifi_index = ifindex };
	struct nl second;
	int r = nl_init(&second); /* the answer names devices, which are asked for meanwhile */

	if (r)
		return r;
	answer->nl = &second;
	r = nl_call(nl, nl_request_new(RTM_GETLINK, 0, &info, sizeof(info)), take, answer, NULL);
	nl_done(&second);
	return r || answer->found ? r : -EPROTONOSUPPORT;
}

/*
 * Options that the mode does not take are kept by the driver, without effect. A miimon of 0 turns
 * its poll off, which xbond's cannot be.
 */
static void bonding_drop_foreign(struct option_set *options, uint32_t mode)
{
	for (int id = 0; id < OPT_COUNT && mode_find(mode); id++)
		options->given[id] &= option_is_of_mode(option_at(id), mode);
	options->given[OPT_MIIMON] &= !!options->value[OPT_MIIMON].number;
}

int bonding_read(struct nl *nl, int ifindex, struct option_set *ret_options, struct err *err)
{
	struct bonding_answer answer = { .options = ret_options };
	int r = bonding_ask(nl, ifindex, bonding_take, &answer);

	if (r)
		return err_set(err, -r, "the options of the bond cannot be read: %s", strerror(-r));
	bonding_drop_foreign(ret_options, ret_options->value[OPT_MODE].number);
	ret_options->given[OPT_MODE] = true;
	return 0;
}

int bonding_active_slave(struct nl *nl, int ifindex)
{
	struct option_set options;
	struct bonding_answer answer = { .options = &options };

	return bonding_ask(nl, ifindex, bonding_take, &answer) ? 0 : answer.active_slave;
}

int bonding_read_slave(struct nl *nl, int ifindex, struct bonding_slave *ret_slave)
{
	struct bonding_answer answer = { .slave = ret_slave };

	memset(ret_slave, 0, sizeof(*ret_slave));
	return bonding_ask(nl, ifindex, bonding_take_slave, &answer);
}

int bonding_visit_ports(const char *bond, bonding_port_visitor visit, void *arg)
{
	char path[64], line[256], name[XBOND_NAME_SIZE] = "", word[XBOND_NAME_SIZE];
	unsigned int number, next = 1;
	bool is_told = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/net/bonding/%s", bond);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Slave Interface: %15s", word) == 1) {
			if (!is_told)
				visit(name, next++, arg);
			memcpy(name, word, sizeof(name));
			is_told = false;
		} else if (!is_told && sscanf(line, " port number: %u", &number) == 1) {
			visit(name, number, arg);
			is_told = true;
		}
	}
	if (!is_told)
		visit(name, next, arg);
	fclose(file);
	return 0;
}

static void bonding_put_addresses(struct nl_msg *msg, const struct bonding_row *row,
				  const struct option_value *value)
{
	size_t size = option_address_size(option_at(row->id));
	unsigned int count = option_address_count(value);
	struct nlattr *list = nl_request_nest(msg, row->attribute);

	for (unsigned int i = 0; i < count; i++)
		nl_request_put(msg, (int)i, (int)size, value->address[i]);
	nl_request_end(msg, list);
}

static void bonding_put_device(struct nl *nl, struct nl_msg *msg, const struct bonding_row *row,
			       const struct option_value *value)
{
	struct link_info link;

	if (*value->name && !link_get_by_name(nl, value->name, &link))
		nl_request_put_u32(msg, row->attribute, (uint32_t)link.ifindex);
}

static void bonding_put_value(struct nl *nl, struct nl_msg *msg, const struct bonding_row *row,
			      const struct option_value *value)
{
	switch (row->type) {
	case TYPE_U8: nl_request_put_u8(msg, row->attribute, (uint8_t)value->number); break;
	case TYPE_U16: nl_request_put_u16(msg, row->attribute, (uint16_t)value->number); break;
	case TYPE_U32: nl_request_put_u32(msg, row->attribute, value->number); break;
	case TYPE_MAC: nl_request_put(msg, row->attribute, XBOND_MAC_SIZE, value->mac); break;
	case TYPE_DEVICE: bonding_put_device(nl, msg, row, value); break;
	case TYPE_ADDRESSES: bonding_put_addresses(msg, row, value); break;
	}
}

static void bonding_put_rows(struct nl *nl, struct nl_msg *msg, const struct bonding_row *rows,
			     size_t count, uint32_t mode, const struct option_set *options)
{
	for (size_t i = 0; i < count; i++)
		if (options->given[rows[i].id] && rows[i].modes & IN_MODE(mode))
			bonding_put_value(nl, msg, &rows[i], &options->value[rows[i].id]);
}

int bonding_create(struct nl *nl, const struct link_end *end, const struct option_set *options,
		   struct err *err)
{
	uint32_t mode = option_set_mode(options, XBOND_MODE_BALANCE_RR);
	struct ifinfomsg info = { 0 };
	struct nlattr *linkinfo, *data;
	int r;
	struct nl_msg *msg =
		nl_request_new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));

	nl_request_put_text(msg, IFLA_IFNAME, end->name);
	nl_request_put(msg, IFLA_ADDRESS, XBOND_MAC_SIZE, end->mac);
	nl_request_put_u32(msg, IFLA_MTU, end->mtu);
	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_KIND, "bond");
	data = nl_request_nest(msg, IFLA_INFO_DATA);
	if (!options->given[OPT_MIIMON])
		nl_request_put_u32(msg, IFLA_BOND_MIIMON,
				   option_initial(option_at(OPT_MIIMON)).number);
	bonding_put_rows(nl, msg, ROWS(bond_rows), mode, options);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	r = nl_call(nl, msg, NULL, NULL, err);
	if (r != -EOPNOTSUPP)
		return r;
	return err_set(err, EOPNOTSUPP,
		       "this kernel has no bonding driver (CONFIG_BONDING, module bonding)");
}

int bonding_set_slave(struct nl *nl, int ifindex, const struct option_set *options, struct err *err)
{
	struct ifinfomsg info = { .ifi_index = ifindex };
	struct nlattr *linkinfo, *data;
	struct nl_msg *msg = nl_request_new(RTM_NEWLINK, 0, &info, sizeof(info));

	linkinfo = nl_request_nest(msg, IFLA_LINKINFO);
	nl_request_put_text(msg, IFLA_INFO_SLAVE_KIND, "bond");
	data = nl_request_nest(msg, IFLA_INFO_SLAVE_DATA);
	for (size_t i = 0; i < sizeof(slave_rows) / sizeof(slave_rows[0]); i++)
		if (options->given[slave_rows[i].id])
			bonding_put_value(nl, msg, &slave_rows[i],
					  &options->value[slave_rows[i].id]);
	nl_request_end(msg, data);
	nl_request_end(msg, linkinfo);
	return nl_call(nl, msg, NULL, NULL, err);
}

/* Team. */

/* One that is the team's, not a port's or an element of an array's. */
#define TEAM_ALONE UINT32_MAX

struct team_option {
	const char *name;
	uint8_t type; /* NLA_* */
	const void *data;
	int size;
	uint32_t port;	/* its ifindex, or 0 */
	uint32_t index; /* in an array, or TEAM_ALONE */
};

static void team_put_option(struct nl_msg *msg, int team, const struct team_option *option)
{
	struct nlattr *list, *item;

	nl_request_put_u32(msg, TEAM_ATTR_TEAM_IFINDEX, (uint32_t)team);
	list = nl_request_nest(msg, TEAM_ATTR_LIST_OPTION);
	item = nl_request_nest(msg, TEAM_ATTR_ITEM_OPTION);
	nl_request_put_text(msg, TEAM_ATTR_OPTION_NAME, option->name);
	nl_request_put_u8(msg, TEAM_ATTR_OPTION_TYPE, option->type);
	nl_request_put(msg, TEAM_ATTR_OPTION_DATA, option->size, option->data);
	if (option->port)
		nl_request_put_u32(msg, TEAM_ATTR_OPTION_PORT_IFINDEX, option->port);
	if (option->index != TEAM_ALONE)
		nl_request_put_u32(msg, TEAM_ATTR_OPTION_ARRAY_INDEX, option->index);
	nl_request_end(msg, item);
	nl_request_end(msg, list);
}

static int team_send_option(struct nl *nl, int team, const struct team_option *option,
			    struct err *err)
{
	struct nl_msg *msg;
	uint16_t family;
	int r = genl_find_family(nl, TEAM_GENL_NAME, &family);

	if (r)
		return err_set(err, -r, "%s", strerror(-r));
	msg = genl_new_request(family, TEAM_CMD_OPTIONS_SET);
	team_put_option(msg, team, option);
	return nl_call(nl, msg, NULL, NULL, err);
}

/*
 * One in a message: if nobody listens to the kernel's news of it, the kernel takes the option,
 * leaves out what follows, and answers -ESRCH.
 */
static int team_set_option(int team, const struct team_option *option, struct err *err)
{
	struct nl nl;
	int r = nl_init_generic(&nl);

	if (r)
		return err_set(err, -r, "%s", strerror(-r));
	r = team_send_option(&nl, team, option, err);
	nl_done(&nl);
	return r == -ESRCH ? 0 : r;
}

int team_create(struct nl *nl, const struct link_end *device, int *ret_ifindex, struct err *err)
{
	struct link_info made;
	int r = link_create(nl, TEAM_KIND, device, err);

	if (r)
		return r;
	r = link_get_by_name(nl, device->name, &made);
	if (r)
		return err_set(err, -r, "%s has gone while it was made; try again", device->name);
	*ret_ifindex = made.ifindex;
	/* The kernel leaves it alone from now on, whatever the ports' carriers are. */
	return link_set_carrier(nl, made.ifindex, false, err);
}

int team_let_send(int team, uint32_t numbers, struct err *err)
{
	static const char mode[] = "loadbalance", method[] = "hash_to_port_mapping";
	const struct sock_filter number[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RXHASH)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, numbers - 1),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	const struct team_option options[] = {
		{ "mode", NLA_STRING, mode, sizeof(mode), 0, TEAM_ALONE },
		{ "bpf_hash_func", NLA_BINARY, number, sizeof(number), 0, TEAM_ALONE },
		{ "lb_tx_method", NLA_STRING, method, sizeof(method), 0, TEAM_ALONE },
	};
	int r = team_set_option(team, &options[0], err);

	if (r == -EINVAL) /* the kernel's answer to a mode that it does not know */
		return -EOPNOTSUPP;
	for (size_t i = 1; i < sizeof(options) / sizeof(options[0]) && !r; i++)
		r = team_set_option(team, &options[i], err);
	return r;
}

int team_use_port(int team, int port, struct err *err)
{
	const struct team_option enabled = { "enabled", NLA_FLAG,	NULL,
					     0,		(uint32_t)port, TEAM_ALONE };

	return team_set_option(team, &enabled, err);
}

int team_map_port(int team, unsigned int number, int port, struct err *err)
{
	const uint32_t ifindex = (uint32_t)port;
	const struct team_option mapping = {
		"lb_tx_hash_to_port_mapping", NLA_U32, &ifindex, sizeof(ifindex), 0, number
	};

	return team_set_option(team, &mapping, err);
}
