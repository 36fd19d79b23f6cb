/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin asks bondd for. */
#ifndef XBOND_CNI_CNI_BONDD_H
#define XBOND_CNI_CNI_BONDD_H

#include "cni/cni_record.h"
#include "network/nl.h"

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

#endif
