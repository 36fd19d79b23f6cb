/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the kernel about links, qdiscs, filters and IP addresses. Lost messages (ENOBUFS) are
 * reported by `resync`: the caller then dumps everything again and compares.
 */
#ifndef XBOND_NETWORK_RTNL_LISTENER_H
#define XBOND_NETWORK_RTNL_LISTENER_H

#include <stdbool.h>

#include "network/ip.h"
#include "network/link.h"

/* TCM_IFINDEX_MAGIC_BLOCK: a filter of a block that several devices use. */
#define RTNL_LISTENER_SHARED_BLOCK (-1)

typedef void (*rtnl_listener_link)(const struct link_info *link, bool gone, void *arg);

struct rtnl_listener_callbacks {
	rtnl_listener_link link;
	void (*qdisc)(int ifindex, void *arg);
	void (*filter)(int ifindex, unsigned int priority, unsigned int handle, bool gone,
		       void *arg);
	void (*address)(const struct address *address, bool gone, void *arg);
	void (*resync)(void *arg);
};

struct rtnl_listener {
	struct nl_sock *sock;
	const struct rtnl_listener_callbacks *callbacks;
	void *arg;
	rtnl_listener_link glance; /* NULL except in rtnl_listener_glance() */
	struct rtnl_listener_kept *kept, **kept_end;
	unsigned int kept_count;
	bool lost; /* more than could be kept */
};

int rtnl_listener_init(struct rtnl_listener *listener,
		       const struct rtnl_listener_callbacks *callbacks, void *arg);
void rtnl_listener_done(struct rtnl_listener *listener);
int rtnl_listener_fd(const struct rtnl_listener *listener);
/* Reads the messages that are there, for a limited time; does not wait. */
void rtnl_listener_read(struct rtnl_listener *listener);
/*
 * Does the same, but keeps the messages for rtnl_listener_read() and only reports links. Returns
 * false if nothing is kept. A callback of rtnl_listener_read() may call it.
 */
bool rtnl_listener_glance(struct rtnl_listener *listener, rtnl_listener_link glance);
/*
 * Glances, too, for the last message about a device. Returns false if there is none, or if it is
 * not that the device has gone.
 */
bool rtnl_listener_find_gone(struct rtnl_listener *listener, int ifindex,
			     struct link_info *ret_link);

#endif
