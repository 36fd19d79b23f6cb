/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * bpf/port_filter.bpf.c on one slave: by itself, or, if the slave has an XDP program, in libxdp's
 * dispatcher. Knows no bond.
 */
#ifndef XBOND_XSK_XSK_FILTER_H
#define XBOND_XSK_XSK_FILTER_H

#include <linux/types.h>

struct filter {
	struct port_filter_bpf *object; /* NULL: not attached */
	int link_fd;			/* -1: it is in the dispatcher */
	struct xdp_program *program;
	__u32 ifindex;
};

/* ports: XBOND_XSK_PORTS of them, 0: none. Returns 0 or -errno. */
int filter_attach(struct filter *filter, __u32 ifindex, const __u16 *ports);
int filter_add(struct filter *filter, __u32 queue, int socket_fd);
/* Frames go to the bond again. */
void filter_detach(struct filter *filter);

#endif
