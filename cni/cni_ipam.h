/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the plugin of the network's `ipam`, which gives addresses (host-local, static, dhcp). */
#ifndef XBOND_CNI_CNI_IPAM_H
#define XBOND_CNI_CNI_IPAM_H

#include "cni/cni.h"

/*
 * Hands the command and the configuration on. Returns its error, if it has one. Does nothing if the
 * network has no such plugin. ret_reply may be NULL; otherwise the plugin must answer an object,
 * and the caller releases *ret_reply, which is NULL if there is no plugin.
 */
int cni_ipam_call(const struct cni_call *call, const char *command, json_t **ret_reply,
		  struct err *err);

#endif
