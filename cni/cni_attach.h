/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An attachment as a whole: made, and undone from whatever state it is in. */
#ifndef XBOND_CNI_CNI_ATTACH_H
#define XBOND_CNI_CNI_ATTACH_H

#include "cni/cni_pod.h"
#include "cni/cni_record.h"

/*
 * Deletes the bond, gives the links back and removes the record. What is not there any more is no
 * error, so it can be repeated.
 */
int cni_attach_undo(const struct cni_record *record, const struct cni_call *call,
		    struct cni_pod *pod, struct err *err);
/* The same; finds the pod by the record. */
int cni_attach_undo_recorded(const struct cni_call *call, const struct cni_record *record,
			     struct err *err);

#endif
