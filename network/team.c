/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/team.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_team.h>
#include <string.h>

#include "network/nl.h"

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
