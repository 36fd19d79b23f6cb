/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy in an ELF file of the user: read, checked, and loaded over a bond's question. The file
 * may contain anything. It is read by libbpf, in bondctl and not in bondd, and what is in it is
 * checked by the kernel.
 */
#ifndef XBOND_CLI_POLICY_POLICY_FILE_H
#define XBOND_CLI_POLICY_POLICY_FILE_H

#include <bpf/libbpf.h>

#include "common/err.h"

#define POLICY_FILE_MAPS 16	/* of its own */
#define POLICY_FILE_MAP_NAME 48 /* the longest name of a map */

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

#endif
