/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of ADD: what the plugins before this one have made, and the bond. */
#ifndef XBOND_CNI_CNI_RESULT_H
#define XBOND_CNI_CNI_RESULT_H

#include "cni/cni.h"
#include "network/link.h"

/* given: the answer of the ipam plugin; NULL: there is none. bond: the device in the pod. */
json_t *cni_result_make(const struct cni_call *call, const struct link_info *bond,
			const json_t *given);
/* The number of the bond among the `interfaces` of a result, or -1. */
int cni_result_find(const struct cni_call *call, const json_t *result);

#endif
