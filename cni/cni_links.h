/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The links of a bond that were in the pod: fetched to the host's namespace, and given back. */
#ifndef XBOND_CNI_CNI_LINKS_H
#define XBOND_CNI_CNI_LINKS_H

#include "cni/cni_pod.h"
#include "cni/cni_record.h"

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

#endif
