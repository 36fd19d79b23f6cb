/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of a bond's maps in memory, which the steps of a migration change. Called by migrate.c.
 */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_MAPS_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/dataplane/objects.h"

/* One of the old bond's maps in memory. */
struct migrate_image {
	const char *pin;
	bool changed;
	/* Copies: of each value, one, or one for each CPU. */
	uint32_t value_size, max_entries, copies;
	/* Each is a multiple of 8 bytes, as in the kernel. */
	uint8_t *values;
};

struct migrate {
	char dir[PATH_MAX];
	uint32_t from;
	struct xbond_bpf *skeleton;
	struct object objects[OBJECTS_MAX];
	size_t count;
	/* The map of the object with the same index; without values if it cannot be read. */
	struct migrate_image images[OBJECTS_MAX];
};

/* Reads all maps as they are now. */
int migrate_maps_read(struct migrate *migrate, struct err *err);
void migrate_maps_free(struct migrate *migrate);
/* NULL: there is none, or none that can be read. */
struct migrate_image *migrate_maps_find(struct migrate *migrate, const char *pin);
/* One element; of a per-CPU map the CPUs' copies follow each other. */
uint8_t *migrate_maps_value(const struct migrate_image *image, uint32_t index);

/*
 * For steps: the value of a map (named by its pin) at index, for reading and writing; the map
 * becomes a new one. In a per-CPU map the copies of the CPUs follow each other. NULL: no such map
 * or index.
 */
void *migrate_value(struct migrate *migrate, const char *pin, uint32_t index);
/* Changes the sizes; the new part is zero. Returns 0, or -ENOENT if there is no such map. */
int migrate_resize(struct migrate *migrate, const char *pin, uint32_t value_size,
		   uint32_t max_entries);

#endif
