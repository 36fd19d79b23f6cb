/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * bpf/port_filter.bpf.c on one slave: by itself, or, if the slave has an XDP program, in libxdp's
 * dispatcher.
 */
#ifndef XBOND_XSK_XSK_FILTER_H
#define XBOND_XSK_XSK_FILTER_H

#include "xbond/xsk.h"

/* Whose slave it is, and what is wanted. */
struct filter_rule {
	const char *bond;
	__u32 slot, ifindex;
	__u32 bond_ifindex; /* 0: not in this namespace */
	const struct xbond_xsk_options *options;
};

struct filter {
	struct port_filter_bpf *object; /* NULL: not attached */
	int link_fd;			/* -1: it is in the dispatcher */
	struct xdp_program *program;
	__u32 ifindex;
};

/* Returns 0 or -errno. */
int filter_attach(struct filter *filter, const struct filter_rule *rule);
int filter_add(struct filter *filter, __u32 queue, int socket_fd);
/* Frames go to the bond again. */
void filter_detach(struct filter *filter);

#endif
