/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories of pins, and single pins in them. Each is made, replaced and removed in one step, so
 * a bondd that dies leaves a complete directory or a staging directory. Does not know what is
 * pinned.
 */
#ifndef XBOND_DAEMON_DATAPLANE_DATAPLANE_PINS_H
#define XBOND_DAEMON_DATAPLANE_DATAPLANE_PINS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/pins.h"
#include "daemon/dataplane/dataplane.h"

/* The staging directory, where a bond's directory is while it is made or removed. */
void pin_dirs_staging(char *ret_path, size_t size, const char *bpf_dir, const char *name);
/* Makes an empty directory; removes what a bondd that died has left there. */
int pin_dirs_make(const char *dir, struct err *err);
/* Removes it with its contents. It is no error if nothing is there. */
void pin_dirs_remove(const char *dir);
/* Removes every staging directory. */
void pin_dirs_remove_staging(const char *bpf_dir);

/* Is anything pinned there by this name? */
bool pin_dirs_has(const char *dir, const char *name);
int pin_dirs_pin(int fd, const char *dir, const char *name, struct err *err);
/*
 * Pins something, in place of an existing pin if there is one; a pin of this name exists all the
 * time.
 */
int pin_dirs_replace(int fd, const char *dir, const char *name, struct err *err);
/* Removes what a bondd that died in pin_dirs_replace() has left. */
void pin_dirs_tidy(const char *dir, const char *name);

/* Calls it for each pin until a call fails. Returns -errno of that call or of the directory. */
int pin_dirs_visit(const char *dir, int (*visit)(const char *dir, const char *name, void *arg),
		   void *arg);

/*
 * The TC programs and all maps of a bond as this build has them: what is pinned under which name,
 * loaded over new maps or over the maps of a bond. dataplane_pins.c makes bonds from them;
 * upgrade.c and migrate.c bring older bonds up to date.
 */

#define OBJECTS_MAX 56

struct bpf_map;
struct bpf_program;
struct xbond_bpf;

/* One pin: a map or a program. */
struct object {
	const char *pin;
	const char *program_name; /* NULL: a map */
	struct bpf_map *map;
	struct bpf_program *program;
	/* A bond of the same ABI may lack the map, because earlier builds did not have it. */
	bool added;
};

struct xbond_bpf *objects_open(enum programs programs, struct err *err);
/* NULL is allowed. */
void objects_close(struct xbond_bpf *skeleton);
/* What a bond with these programs has, without `map` and `program`. Returns how many these are. */
size_t objects_expect(enum programs programs, struct object ret_objects[OBJECTS_MAX]);
/* The maps of a skeleton, and then those of its programs that are loaded. */
size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX]);
/*
 * Uses the bond's map instead of a new one, if it has the shape that this build needs. A map marked
 * `added` may be missing.
 */
int objects_reuse(const struct object *object, const char *dir, struct err *err);
/* If the kernel refuses, err has the verifier's last lines. */
int objects_load(struct xbond_bpf *skeleton, struct err *err);
int objects_fd(const struct object *object);
/* Another one for each build of the programs, and for another list of objects. */
uint64_t objects_fingerprint(void);

/*
 * Upgrade: a bond that an earlier or later build has made gets the programs of this build, and the
 * maps that the other build did not have. This concerns only pins; attach_check.c and xdp_upgrade.c
 * replace the attached programs. migrate.c converts maps of another ABI.
 */

/* Reads what an earlier bondd of this build has recorded. paths stay with the caller. */
void upgrade_init(const struct paths *paths);
/* Of a skeleton that is loaded: how this build's programs are known, and records it. */
int upgrade_learn(enum programs programs, struct xbond_bpf *skeleton, struct err *err);
/*
 * Called after dataplane_open_maps(). If a program of this build has another tag than the pinned
 * one, or none is pinned, the pin is replaced. A bond with a policy has other programs. If this
 * fails, the bond can go on with what it has.
 */
int upgrade_pins(struct dataplane *dataplane, struct err *err);
/* The same later: to programs that ask a policy, or not. why: the begin of the line for the log. */
int upgrade_to(struct dataplane *dataplane, bool asks, const char *why, struct err *err);
/* Has the user set what needs other programs, as `path direct`? Then to those that do not ask. */
bool upgrade_is_due(const struct dataplane *dataplane);

/*
 * Migration: converts maps of an older ABI to those of this build, step by step.
 * A map that no step touches stays the same map, with everything that is written into it meanwhile.
 * A map that a step touches becomes a new map with a copy. A new directory with this build's
 * programs replaces the old one by one rename. Then the attached programs are replaced, as after
 * any upgrade.
 */

/*
 * Called before a bond is opened. Returns 0 if the bond has this build's ABI, or has it now.
 * -EPROTO with a line in err: it has another ABI, and no steps lead from it to ours; nothing was
 * changed.
 */
int migrate(const char *bpf_dir, const char *name, struct err *err);

#endif
