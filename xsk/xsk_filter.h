/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * bpf/port_filter.bpf.c on one slave: by itself, or, if the slave has an XDP program, in libxdp's
 * dispatcher. The handles of a process share it, whatever thread they are of; it is attached while
 * one of them has it.
 */
#ifndef XBOND_XSK_XSK_FILTER_H
#define XBOND_XSK_XSK_FILTER_H

#include "xbond/xsk.h"
#include "xsk/choice.h"

/* Whose slave it is, and what is wanted. */
struct filter_rule {
	const struct choice *choice;
	__u32 slot, ifindex;
	__u64 namespace;
	const struct xbond_xsk_options *options;
};

struct filter;

/*
 * Returns 0 or -errno: -EADDRINUSE: another handle has another filter there; -EBUSY: there is
 * another program, or the slave has just left this slot; -ENOTDIR:
 * there is no place for the pin.
 */
int filter_attach(struct filter **ret, const struct filter_rule *rule);
/*
 * Frames of this queue go to the socket, until it is closed. Returns 0 or -errno: -EBUSY: another
 * handle found that the slave has left the slot.
 */
int filter_add(const struct filter *filter, __u32 queue, int socket_fd);
/* For one handle. After the last one, frames go to the bond again. */
void filter_detach(struct filter *filter);

#endif
