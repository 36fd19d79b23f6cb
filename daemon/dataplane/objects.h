/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TC programs and all maps of a bond as this build carries them: what is pinned under which
 * name, loaded over new maps or over those that a bond has. dataplane_pins.c makes bonds of them,
 * upgrade.c and migrate.c bring older bonds up to them.
 */
#ifndef XBOND_DAEMON_DATAPLANE_OBJECTS_H
#define XBOND_DAEMON_DATAPLANE_OBJECTS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define OBJECTS_MAX 32

struct bpf_map;
struct bpf_program;
struct xbond_bpf;

/* One pin: a map or a program. */
struct object {
	const char *pin;
	struct bpf_map *map;
	struct bpf_program *program;
	/* Bonds of the same ABI may lack the map, because earlier builds did not know it. */
	bool added;
};

struct xbond_bpf *objects_open(struct err *err);
/* NULL does nothing. */
void objects_close(struct xbond_bpf *skeleton);
/* All of them, each once; how many. */
size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX]);
/*
 * The bond's map instead of a new one, if it has the shape that this build wants. One that was
 * added may be missing.
 */
int objects_reuse(const struct object *object, const char *dir, struct err *err);
/* The kernel's refusal is told with the verifier's last lines. */
int objects_load(struct xbond_bpf *skeleton, struct err *err);
int objects_fd(const struct object *object);
/* Of a program: what the kernel calls its instructions by. */
int objects_tag(int program_fd, unsigned char ret_tag[BPF_TAG_SIZE]);

#endif
