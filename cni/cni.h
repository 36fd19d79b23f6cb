/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CNI plugin "xbond" (spec 1.1.0): what its files share. The container runtime starts it once
 * for each command, with the command in the environment and the network's configuration on stdin.
 * It is a client of bondd: it moves devices between namespaces, and asks bondd for the bond.
 *
 * The bond lives in bondd's namespace, and so do its slaves. Only bond0 moves into the pod, so one
 * bondd serves all pods and nobody in a pod can reach the slaves. Links that are in the pod are
 * fetched from there, and given back by DEL.
 *
 * Functions of this folder return 0 or -CNI_*, with one line in err.
 */
#ifndef XBOND_CNI_CNI_H
#define XBOND_CNI_CNI_H

#include "cni/cni_config.h"
#include "common/err.h"
#include "common/paths.h"

/* Codes of errors: those of the spec below 100, ours above. */
enum cni_code {
	CNI_INCOMPATIBLE_VERSION = 1,
	CNI_UNSUPPORTED_FIELD = 2,
	CNI_UNKNOWN_CONTAINER = 3,
	CNI_BAD_ENVIRONMENT = 4,
	CNI_IO = 5,
	CNI_BAD_JSON = 6,
	CNI_BAD_CONFIG = 7,
	CNI_TRY_AGAIN = 11,
	CNI_UNAVAILABLE = 50,
	CNI_REFUSED = 100, /* by bondd */
	CNI_KERNEL = 101,
	CNI_IPAM = 102,
	CNI_CHANGED = 103, /* CHECK found something else than ADD has made */
};

/* The environment; NULL: not given, or empty. */
struct cni_call {
	const char *command, *container, *netns, *ifname;
	const char *path; /* directories of plugins, with colons between them */
	struct paths paths;
	struct cni_config config;
};

/* The bond's name in the pod. */
static inline const char *cni_device(const struct cni_call *call)
{
	return call->config.ifname ? call->config.ifname : call->ifname;
}

/* They print nothing. ret_result is what stdout gets; it stays NULL if that is nothing. */
int cni_add(const struct cni_call *call, json_t **ret_result, struct err *err);
int cni_del(const struct cni_call *call, struct err *err);
int cni_check(const struct cni_call *call, struct err *err);
int cni_gc(const struct cni_call *call, struct err *err);
int cni_status(const struct cni_call *call, struct err *err);

#endif
