/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the kernel about links, qdiscs, filters and IP addresses. Lost messages (ENOBUFS) are
 * reported by `resync`: the caller then dumps everything again and compares.
 */
#ifndef XBOND_DAEMON_NET_RTNL_LISTENER_H
#define XBOND_DAEMON_NET_RTNL_LISTENER_H

#include <stdbool.h>

#include "daemon/net/link.h"

/* TCM_IFINDEX_MAGIC_BLOCK: a filter of a block that several devices use. */
#define MONITOR_SHARED_BLOCK (-1)

typedef void (*monitor_link)(const struct link_info *link, bool gone, void *arg);

struct monitor_callbacks {
	monitor_link link;
	void (*qdisc)(int ifindex, void *arg);
	void (*filter)(int ifindex, unsigned int priority, unsigned int handle, bool gone,
		       void *arg);
	void (*address)(int ifindex, bool gone, void *arg);
	void (*resync)(void *arg);
};

struct monitor {
	struct nl_sock *sock;
	const struct monitor_callbacks *callbacks;
	void *arg;
	monitor_link glance; /* NULL but in monitor_glance() */
	struct monitor_kept *kept, **kept_end;
	unsigned int kept_count;
	bool lost; /* more than could be kept */
};

int monitor_init(struct monitor *monitor, const struct monitor_callbacks *callbacks, void *arg);
void monitor_done(struct monitor *monitor);
int monitor_fd(const struct monitor *monitor);
/* Reads the messages that are there, for a limited time; does not wait. */
void monitor_read(struct monitor *monitor);
/*
 * Does the same, but keeps the messages for monitor_read() and only reports links. Returns false if
 * nothing is kept. A callback of monitor_read() may call it.
 */
bool monitor_glance(struct monitor *monitor, monitor_link glance);

#endif
