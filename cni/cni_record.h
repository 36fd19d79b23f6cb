/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ADD has made, as a JSON file in RUN_DIR/cni for each attachment (a container and the name of
 * its device). It is written before anything is changed, and removed last. So DEL and GC undo what
 * an ADD has left that died in the middle. The file ends with a reboot, as the bond does.
 */
#ifndef XBOND_CNI_CNI_RECORD_H
#define XBOND_CNI_CNI_RECORD_H

#include <jansson.h>

#include "bpf/abi.h"
#include "cni/cni.h"

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

#endif
