/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A policy of the user, from its file to a bond's pins. */
#ifndef XBOND_CLI_POLICY_FILE_H
#define XBOND_CLI_POLICY_FILE_H

#include <bpf/libbpf.h>

#include "common/err.h"

/*
 * A policy in an ELF file of the user: read, checked, and loaded over a bond's question. The file
 * may contain anything. It is read by libbpf, in bondctl and not in bondd, and what is in it is
 * checked by the kernel.
 */

#define POLICY_FILE_MAPS 16 /* of its own */

struct policy_file {
	void *bytes;
	struct bpf_object *object;
	struct bpf_program *tc, *xdp;
	struct bpf_map *question;		/* that of the bond */
	struct bpf_map *maps[POLICY_FILE_MAPS]; /* those of its own that have a name */
	unsigned int map_count;
};

/* dir: of the pins of the bond. policy_file_close() also after a failure. */
int policy_file_load(struct policy_file *ret_file, const char *path, const char *dir,
		     struct err *err);
void policy_file_close(struct policy_file *file);

/* Puts a loaded policy into a bond's pins, and takes it out. */

/*
 * In place of an older one. If this fails, the older one decides as before. If bondctl dies in
 * between, one of the two decides.
 */
int policy_pin(const struct policy_file *file, const char *dir, struct err *err);
/* From the next packet on the bond decides. */
int policy_unpin(const char *dir, struct err *err);
/* Calls visit with the name of the map and of its pin. */
void policy_pin_visit_maps(const char *dir,
			   void (*visit)(const char *map, const char *pin, void *arg), void *arg);

#endif
