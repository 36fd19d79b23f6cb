/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of requests itself. */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "network/netconf.h"

static size_t netconf_head_size(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
	case RTM_SETLINK:
	case RTM_DELLINK: return sizeof(struct ifinfomsg);
	case RTM_NEWADDR: return sizeof(struct ifaddrmsg);
	case RTM_NEWROUTE: return sizeof(struct rtmsg);
	case RTM_NEWNEIGH: return sizeof(struct ndmsg);
	default: return 0;
	}
}

bool netconf_add(struct netconf *conf, const void *request, size_t size)
{
	const struct nlmsghdr *header = request;
	struct nlmsghdr *copy;

	if (size < sizeof(*header) || header->nlmsg_len != size ||
	    !netconf_head_size(header->nlmsg_type) ||
	    size < NLMSG_LENGTH(netconf_head_size(header->nlmsg_type)))
		return false;
	if (conf->count == conf->room) {
		conf->room = conf->room ? 2 * conf->room : 64;
		conf->request =
			memory_need(realloc(conf->request, conf->room * sizeof(*conf->request)));
	}
	copy = memory_need(malloc(size));
	memcpy(copy, request, size);
	conf->request[conf->count++] = copy;
	return true;
}

void netconf_free(struct netconf *conf)
{
	for (size_t i = 0; i < conf->count; i++)
		free(conf->request[i]);
	free(conf->request);
	*conf = (struct netconf){ 0 };
}

void netconf_cut(struct netconf *conf, size_t count)
{
	while (conf->count > count)
		free(conf->request[--conf->count]);
}
