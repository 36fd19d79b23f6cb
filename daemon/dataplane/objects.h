/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TC programs and all maps of a bond as this build has them: what is pinned under which name,
 * loaded over new maps or over the maps of a bond. dataplane_pins.c makes bonds from them;
 * upgrade.c and migrate.c bring older bonds up to date.
 */
#ifndef XBOND_DAEMON_DATAPLANE_OBJECTS_H
#define XBOND_DAEMON_DATAPLANE_OBJECTS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "daemon/dataplane/dataplane.h"

#define OBJECTS_MAX 56

struct bpf_map;
struct bpf_program;
struct xbond_bpf;

/* One pin: a map or a program. */
struct object {
	const char *pin;
	struct bpf_map *map;
	struct bpf_program *program;
	/* A bond of the same ABI may lack the map, because earlier builds did not have it. */
	bool added;
};

struct xbond_bpf *objects_open(enum programs programs, struct err *err);
/* NULL is allowed. */
void objects_close(struct xbond_bpf *skeleton);
/* All objects, each once, and their number. */
size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX]);
/*
 * Uses the bond's map instead of a new one, if it has the shape that this build needs. A map marked
 * `added` may be missing.
 */
int objects_reuse(const struct object *object, const char *dir, struct err *err);
/* If the kernel refuses, err has the verifier's last lines. */
int objects_load(struct xbond_bpf *skeleton, struct err *err);
int objects_fd(const struct object *object);
/* The tag of a program, by which the kernel identifies its instructions. */
int objects_tag(int program_fd, unsigned char ret_tag[BPF_TAG_SIZE]);

#endif
