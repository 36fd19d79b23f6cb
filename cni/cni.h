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

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/paths.h"
#include "network/ip.h"
#include "network/link.h"
#include "network/nl.h"

/*
 * The network configuration that a runtime hands to the plugin: read and checked, nothing done.
 * Its keys are those of the bond plugin that people use with Multus where they fit, and every
 * option of the option table, as fail_over_mac or failOverMac. Also a target of the fuzzers.
 */

struct cni_link {
	const char *name;
	json_t *options; /* {NAME: TEXT} of bondd's options of a slave */
};

struct cni_config {
	json_t *json; /* owns what the members below point to, but for the options */
	const char *version, *name;
	const char *ifname;  /* the bond's name in the pod; NULL: as CNI_IFNAME says */
	const char *run_dir; /* NULL: the default */
	bool links_in_container;
	size_t link_count;
	struct cni_link links[XBOND_MAX_SLAVES];
	json_t *options; /* {NAME: TEXT} of bondd's options of a bond */
	uint32_t mtu;	 /* 0: not given */
	bool has_mac;
	uint8_t mac[XBOND_MAC_SIZE];
	const char *ipam;	/* the plugin that gives addresses; NULL: none */
	const json_t *previous; /* what the plugins before this one have made; NULL: nothing */
};

/*
 * For ADD, all of it is checked. For the other commands only what they need is, because a
 * configuration that ADD refused, or that was changed afterwards, must not keep DEL from its work.
 * After success and after failure: cni_config_done().
 */
int cni_config_read(struct cni_config *ret_config, const char *text, size_t length,
		    const char *command, struct err *err);
void cni_config_done(struct cni_config *config);

/* The versions of the spec that the plugin speaks; the last one is NULL. */
extern const char *const cni_versions[];
/* Results before version 1.0.0 say of each address whether it is of IPv4. */
bool cni_config_is_old(const struct cni_config *config);

/* May a device have this name? */
bool cni_is_device_name(const char *name);
/* Letters, digits, '_', '.' and '-', and the first is a letter or digit. */
bool cni_is_identifier(const char *text);

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

/*
 * What ADD has made, as a JSON file in RUN_DIR/cni for each attachment (a container and the name of
 * its device). It is written before anything is changed, and removed last. So DEL and GC undo what
 * an ADD has left that died in the middle. The file ends with a reboot, as the bond does.
 */

struct cni_record {
	char bond[XBOND_NAME_SIZE]; /* its name on the host, which only this attachment has */
	/*
	 * network, containerID, ifname (as the runtime says it), device (the bond's name in the
	 * pod), netns (path), inode (of the namespace), links: [{name, host, up}], which are the
	 * links that were fetched from the pod.
	 */
	json_t *json;
};

/* A new one in memory, without links. */
void cni_record_init(struct cni_record *ret_record, const struct cni_call *call);
/* Returns -CNI_UNKNOWN_CONTAINER if there is none. Release it with cni_record_done(). */
int cni_record_load(struct cni_record *ret_record, const struct cni_call *call, struct err *err);
/* Refuses to replace one. */
int cni_record_store(const struct cni_record *record, const struct cni_call *call, struct err *err);
void cni_record_remove(const struct cni_record *record, const struct cni_call *call);
void cni_record_done(struct cni_record *record);

const char *cni_record_text(const struct cni_record *record, const char *key);
json_t *cni_record_links(const struct cni_record *record);

/* Calls visit with each record of the call's network. Returns the first error. */
int cni_record_visit(const struct cni_call *call,
		     int (*visit)(const struct cni_call *call, const struct cni_record *record,
				  struct err *err),
		     struct err *err);

/*
 * The pod's network namespace, seen from the host's: devices go there and come back, and get
 * addresses there. Knows no bondd and no configuration.
 */

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

/* Renames the device in the same step. It is down afterwards. */
int cni_pod_put(struct cni_pod *pod, int ifindex, const char *name, struct err *err);

/* Turns IPv6 on, which some runtimes turn off in their namespaces. */
int cni_pod_allow_ipv6(const struct cni_pod *pod, const char *device);

/* The links of a bond that were in the pod: fetched to the host's namespace, and given back. */

/* Looks at the links in the pod and enters them into the record. Changes no device. */
int cni_links_survey(struct cni_record *record, const struct cni_call *call, struct cni_pod *pod,
		     struct err *err);
/* Fetches the links of the record, under their names on the host. */
int cni_links_fetch(const struct cni_record *record, struct cni_pod *pod, struct err *err);
/*
 * Gives back what was fetched, and is on the host. If the pod is gone, hardware stays here as the
 * kernel would have left it, and other devices end, as they would have ended with the pod.
 */
int cni_links_return(const struct cni_record *record, struct cni_pod *pod, struct err *err);

/* The name on the host of a link; its own name if it was not fetched. */
const char *cni_links_host_name(const struct cni_record *record, const char *name);

/* What the plugin asks bondd for. */

/* Creates the bond of the record and adds its slaves. bond0 is down, in this namespace, that of nl.
 */
int cni_bondd_create(const struct cni_record *record, const struct cni_call *call, struct nl *nl,
		     struct err *err);
/* It is no error if there is none. -CNI_TRY_AGAIN: there may be one, and bondd is not there. */
int cni_bondd_delete(const struct cni_record *record, const struct cni_call *call, struct err *err);
/* bondd shall look at the bond now, which is in the pod. Nothing is lost if it does not hear. */
void cni_bondd_refresh(const struct cni_record *record, const struct cni_call *call);
/* As `bondctl -j show` prints it; the caller releases *ret_view. */
int cni_bondd_show(const struct cni_record *record, const struct cni_call *call, json_t **ret_view,
		   struct err *err);
/* -CNI_UNAVAILABLE: it does not answer. */
int cni_bondd_ping(const struct cni_call *call, struct err *err);

/* Runs the plugin of the network's `ipam`, which gives addresses (host-local, static, dhcp). */

/*
 * Hands the command and the configuration on. Returns its error, if it has one. Does nothing if the
 * network has no such plugin. ret_reply may be NULL; otherwise the plugin must answer an object,
 * and the caller releases *ret_reply, which is NULL if there is no plugin.
 */
int cni_ipam_call(const struct cni_call *call, const char *command, json_t **ret_reply,
		  struct err *err);

/*
 * `ips` and `routes` of a result of CNI: parsed, put on a device, compared with it. Also a target
 * of the fuzzers, because another plugin wrote the result.
 */

#define CNI_MAX_ADDRESSES 64
#define CNI_MAX_ROUTES 1024

struct cni_addresses {
	size_t address_count, route_count;
	struct address addresses[CNI_MAX_ADDRESSES]; /* without ifindex and text */
	struct route_change routes[CNI_MAX_ROUTES];  /* likewise */
};

/* interface: only those of this number; -1: all. A route without gw gets that of its family. */
int cni_addresses_read(struct cni_addresses *ret_addresses, const json_t *result, int interface,
		       struct err *err);
/* nl: of the namespace that the device is in. It must be up. */
int cni_addresses_apply(struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err);
/* Returns -CNI_CHANGED if an address is missing. */
int cni_addresses_check(const struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err);

/* The result of ADD: what the plugins before this one have made, and the bond. */

/* given: the answer of the ipam plugin; NULL: there is none. bond: the device in the pod. */
json_t *cni_result_make(const struct cni_call *call, const struct link_info *bond,
			const json_t *given);
/* The number of the bond among the `interfaces` of a result, or -1. */
int cni_result_find(const struct cni_call *call, const json_t *result);

#endif
