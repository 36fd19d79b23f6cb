/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AF_XDP sockets of this network namespace, as the kernel lists them (xdp_diag), and whose they
 * are. Knows no bonds.
 */
#ifndef XBOND_NETWORK_XDP_SOCKETS_H
#define XBOND_NETWORK_XDP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xdp_socket {
	uint32_t ifindex, queue;
	bool zero_copy;
	uint64_t missed; /* frames that there was no room for */
	uint32_t inode;
	pid_t pid;	  /* of a process that has it; 0: unknown */
	char program[16]; /* "": unknown */
};

struct xdp_sockets {
	struct xdp_socket *socket;
	size_t count;
};

/*
 * Those that are bound, by device and queue. Returns 0, or -errno if this kernel does not tell; the
 * list is empty then.
 */
int xdp_sockets_read(struct xdp_sockets *ret_sockets);
void xdp_sockets_free(struct xdp_sockets *sockets);
/* Looks through the files of all processes that this one may see. */
void xdp_sockets_find_owners(struct xdp_sockets *sockets);

#endif
