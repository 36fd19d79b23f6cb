/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/ipv6.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <unistd.h>

#include "network/nl_attr.h"
#include "network/nl_request.h"

#define DUMP_TRIES 20

static int ipv6_open(const char *name, const char *value, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/%s", name, value);
	return open(path, flags | O_CLOEXEC);
}

int ipv6_disabled(const char *name)
{
	int fd = ipv6_open(name, "disable_ipv6", O_RDONLY);
	char digit = 0;

	if (fd < 0)
		return -1;
	if (read(fd, &digit, 1) != 1)
		digit = 0;
	close(fd);
	return digit == '0' || digit == '1' ? digit - '0' : -1;
}

int ipv6_set_disabled(const char *name, int disabled)
{
	int fd = ipv6_open(name, "disable_ipv6", O_WRONLY), r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, disabled ? "1" : "0", 1) != 1)
		r = -errno;
	close(fd);
	return r;
}

int ipv6_set_default_dad(const char *name)
{
	int from = ipv6_open("default", "accept_dad", O_RDONLY);
	int to = ipv6_open(name, "accept_dad", O_WRONLY), r = 0;
	char text[16];
	ssize_t size = from < 0 ? 0 : read(from, text, sizeof(text));

	if (to < 0)
		r = errno == ENOENT ? 0 : -errno;
	else if (size < 0 || (size && write(to, text, (size_t)size) != size))
		r = -errno;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return r;
}

struct routers {
	ipv6_visitor visit;
	void *arg;
};

static void ipv6_take_router(struct nlmsghdr *message, void *arg)
{
	struct nlattr *tb[NETCONFA_MAX + 1];
	struct routers *routers = arg;

	if (message->nlmsg_type != RTM_NEWNETCONF ||
	    nlmsg_parse(message, sizeof(struct netconfmsg), tb, NETCONFA_MAX, NULL) < 0)
		return;
	if (tb[NETCONFA_IFINDEX] && nl_attr_u32(tb[NETCONFA_FORWARDING], 0))
		routers->visit((int)nl_attr_u32(tb[NETCONFA_IFINDEX], 0), routers->arg);
}

int ipv6_visit_routers(struct nl *nl, ipv6_visitor visit, void *arg)
{
	struct routers routers = { visit, arg };
	int r = -EAGAIN;

	for (int try = 0; try < DUMP_TRIES && r == -EAGAIN; try++) {
		struct netconfmsg config = { .ncm_family = AF_INET6 };
		struct nl_msg *msg =
			nl_request_new(RTM_GETNETCONF, NLM_F_DUMP, &config, sizeof(config));

		r = nl_call(nl, msg, ipv6_take_router, &routers, NULL);
	}
	return r;
}
