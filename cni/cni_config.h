/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network configuration that a runtime hands to the plugin: read and checked, nothing done.
 * Its keys are those of the bond plugin that people use with Multus where they fit, and every
 * option of the option table, as fail_over_mac or failOverMac. Also a target of the fuzzers.
 */
#ifndef XBOND_CNI_CNI_CONFIG_H
#define XBOND_CNI_CNI_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"

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

#endif
