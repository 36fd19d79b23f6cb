/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One rtnetlink request socket: sends a message, hands the answers to a handler, and returns -errno
 * with the kernel's own words (extack). Everything in network builds on it.
 */
#ifndef XBOND_NETWORK_NL_H
#define XBOND_NETWORK_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>

#include "common/err.h"

struct nl {
	struct nl_sock *sock;
	bool is_generic;
};

typedef void (*nl_handler)(struct nlmsghdr *message, void *arg);

int nl_init(struct nl *nl);
/* The same for generic netlink. */
int nl_init_generic(struct nl *nl);
void nl_done(struct nl *nl);

/*
 * Sends msg (and frees it) and reads until its acknowledgement or the end of its dump. -EAGAIN: a
 * change interrupted the dump, and it must be repeated. err, which may be NULL, gets the kernel's
 * explanation or the text of the errno.
 *
 * A request that could not be sent, or reads a single thing and failed for want of memory, is
 * repeated here. What fails even so is -EIO, -ENOBUFS or -ENOMEM: nobody knows whether what was
 * asked for is there. Only -ENODEV says that a device is not.
 */
int nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg, struct err *err);

#endif
