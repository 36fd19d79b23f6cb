/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pod's network namespace, seen from the host's: devices go there and come back, and get
 * addresses there. Knows no bondd and no configuration.
 */
#ifndef XBOND_CNI_CNI_POD_H
#define XBOND_CNI_CNI_POD_H

#include <stdint.h>

#include "common/err.h"
#include "network/link.h"
#include "network/nl.h"

struct cni_pod {
	int fd;		    /* -1: the namespace is gone */
	uint64_t inode;	    /* its number while it lives; another one may get it afterwards */
	struct nl host, nl; /* sockets of the two namespaces */
};

/*
 * path: NULL counts as a namespace that is gone. Returns -CNI_UNKNOWN_CONTAINER if it leads to
 * none, and -CNI_BAD_ENVIRONMENT if it leads to that of the caller; then the socket of the host is
 * open nevertheless. After success and after failure: cni_pod_done().
 */
int cni_pod_open(struct cni_pod *ret_pod, const char *path, struct err *err);
void cni_pod_done(struct cni_pod *pod);

/* Both rename the device in the same step. It is down afterwards. */
int cni_pod_put(struct cni_pod *pod, int ifindex, const char *name, struct err *err);
int cni_pod_fetch(struct cni_pod *pod, int ifindex, const char *name, struct err *err);

/* Turns IPv6 on, which some runtimes turn off in their namespaces. */
int cni_pod_allow_ipv6(const struct cni_pod *pod, const char *device);

#endif
