/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/team.h"

#include <errno.h>
#include <linux/if_team.h>
#include <string.h>

#include "network/genl.h"

int team_create(struct nl *nl, const struct link_end *device, struct err *err)
{
	struct link_info made;
	int r = link_create(nl, TEAM_KIND, device, err);

	if (!r)
		r = link_get_by_name(nl, device->name, &made);
	return r ? r : link_set_carrier(nl, made.ifindex, false, err);
}

static void team_put_queue_id(struct nl_msg *msg, int port_ifindex, uint32_t queue_id)
{
	struct nlattr *list = nla_nest_start(msg, TEAM_ATTR_LIST_OPTION);
	struct nlattr *option = nla_nest_start(msg, TEAM_ATTR_ITEM_OPTION);

	nla_put_string(msg, TEAM_ATTR_OPTION_NAME, "queue_id");
	nla_put_u8(msg, TEAM_ATTR_OPTION_TYPE, NLA_U32);
	nla_put_u32(msg, TEAM_ATTR_OPTION_DATA, queue_id);
	nla_put_u32(msg, TEAM_ATTR_OPTION_PORT_IFINDEX, (uint32_t)port_ifindex);
	nla_nest_end(msg, option);
	nla_nest_end(msg, list);
}

static int team_ask(struct nl *nl, int ifindex, int port_ifindex, uint32_t queue_id,
		    struct err *err)
{
	struct nl_msg *msg;
	uint16_t family;
	int r = genl_find_family(nl, TEAM_GENL_NAME, &family);

	if (r)
		return err_set(err, -r, "the kernel does not answer for team: %s", strerror(-r));
	msg = genl_request(family, TEAM_CMD_OPTIONS_SET);
	if (!msg)
		return err_set(err, ENOMEM, "out of memory");
	nla_put_u32(msg, TEAM_ATTR_TEAM_IFINDEX, (uint32_t)ifindex);
	team_put_queue_id(msg, port_ifindex, queue_id);
	r = nl_call(nl, msg, NULL, NULL, err);
	/* It is set, and then nobody was there to hear of it. */
	return r == -ESRCH ? 0 : r;
}

int team_set_queue_id(int ifindex, int port_ifindex, uint32_t queue_id, struct err *err)
{
	struct nl nl;
	int r = nl_init_generic(&nl);

	if (r)
		return err_set(err, -r, "cannot open a netlink socket: %s", strerror(-r));
	r = team_ask(&nl, ifindex, port_ifindex, queue_id, err);
	nl_done(&nl);
	return r;
}
