/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/dataplane/dataplane.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "network/link.h"

/* One of the old bond's maps in memory, which the steps of a migration change. */
struct migrate_image {
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

static size_t migrate_maps_stride(uint32_t value_size)
{
	return (value_size + 7) & ~(size_t)7;
}

static size_t migrate_maps_image_size(const struct migrate_image *image)
{
	return migrate_maps_stride(image->value_size) * image->copies * image->max_entries;
}

/* One element; of a per-CPU map the CPUs' copies follow each other. */
static uint8_t *migrate_maps_value(const struct migrate_image *image, uint32_t index)
{
	return image->values + migrate_maps_stride(image->value_size) * image->copies * index;
}

/* NULL: there is none, or none that can be read. */
static struct migrate_image *migrate_maps_find(struct migrate *migrate, const char *pin)
{
	for (size_t i = 0; i < migrate->count; i++)
		if (!strcmp(migrate->objects[i].pin, pin) && migrate->images[i].values)
			return &migrate->images[i];
	return NULL;
}

/*
 * For steps: the value of a map (named by its pin) at index, for reading and writing; the map
 * becomes a new one. In a per-CPU map the copies of the CPUs follow each other. NULL: no such map
 * or index.
 */
static void *migrate_value(struct migrate *migrate, const char *pin, uint32_t index)
{
	struct migrate_image *image = migrate_maps_find(migrate, pin);

	if (!image || index >= image->max_entries)
		return NULL;
	image->changed = true;
	return migrate_maps_value(image, index);
}

static bool migrate_maps_is_of_timers(const struct object *object)
{
	return !strcmp(object->pin, XBOND_PIN_HOLD_TIMERS) ||
	       !strcmp(object->pin, XBOND_PIN_WATCHDOG);
}

static bool migrate_maps_is_readable(const struct bpf_map_info *info, const struct object *object)
{
	return (info->type == BPF_MAP_TYPE_ARRAY || info->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
	       !migrate_maps_is_of_timers(object);
}

/*
 * The contents of ring buffers and timers cannot be read. Such maps are shared or, if they have
 * another size in this build, new and empty: timers are wound up again, and what is lost of a ring
 * is as if it had been full.
 */
static bool migrate_maps_is_new(const struct bpf_map_info *info, const struct object *object)
{
	return (info->type == BPF_MAP_TYPE_RINGBUF || migrate_maps_is_of_timers(object)) &&
	       (info->value_size != bpf_map__value_size(object->map) ||
		info->max_entries != bpf_map__max_entries(object->map));
}

static int migrate_maps_read_image(struct migrate_image *image, int fd, const struct object *object)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	int cpus = libbpf_num_possible_cpus(), r = bpf_obj_get_info_by_fd(fd, &info, &length);

	if (r || cpus < 0)
		return r ? r : cpus;
	if (!migrate_maps_is_readable(&info, object)) {
		image->changed = migrate_maps_is_new(&info, object);
		return 0;
	}
	*image = (struct migrate_image){
		.value_size = info.value_size,
		.max_entries = info.max_entries,
		.copies = info.type == BPF_MAP_TYPE_PERCPU_ARRAY ? (uint32_t)cpus : 1,
	};
	image->values = memory_need(calloc(1, migrate_maps_image_size(image)));
	for (uint32_t i = 0; !r && i < info.max_entries; i++)
		r = bpf_map_lookup_elem(fd, &i, migrate_maps_value(image, i));
	return r;
}

/* A value or a map that has another size in this build gets it; what is new is zero. */
static void migrate_maps_resize(struct migrate_image *image, uint32_t value_size,
				uint32_t max_entries)
{
	struct migrate_image now = *image;
	uint32_t entries = max_entries < image->max_entries ? max_entries : image->max_entries;
	uint32_t kept = value_size < image->value_size ? value_size : image->value_size;

	if (image->value_size == value_size && image->max_entries == max_entries)
		return;
	now.value_size = value_size;
	now.max_entries = max_entries;
	now.changed = true;
	now.values = memory_need(calloc(1, migrate_maps_image_size(&now)));
	for (size_t i = 0; i < (size_t)image->copies * entries; i++)
		memcpy(now.values + migrate_maps_stride(value_size) * i,
		       image->values + migrate_maps_stride(image->value_size) * i, kept);
	free(image->values);
	*image = now;
}

static int migrate_maps_read(struct migrate *migrate, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < migrate->count && !r; i++) {
		const char *pin = migrate->objects[i].pin;
		int fd;

		free(migrate->images[i].values);
		migrate->images[i].values = NULL;
		fd = migrate->objects[i].map ? pin_open(migrate->dir, pin) : -ENOENT;
		if (fd < 0) /* the older ABI did not have it */
			continue;
		r = migrate_maps_read_image(&migrate->images[i], fd, &migrate->objects[i]);
		close(fd);
		if (!r && migrate->images[i].values)
			migrate_maps_resize(&migrate->images[i],
					    bpf_map__value_size(migrate->objects[i].map),
					    bpf_map__max_entries(migrate->objects[i].map));
		if (r)
			err_set(err, -r, "cannot read %s/%s: %s", migrate->dir, pin, strerror(-r));
	}
	return r;
}

static void migrate_maps_free(struct migrate *migrate)
{
	for (size_t i = 0; i < migrate->count; i++)
		free(migrate->images[i].values);
}

/*
 * A step from one ABI version to the next. It may run twice, each time on the present contents of
 * the maps. They have this build's sizes already: what a value has more than before is zero.
 */
struct migrate_step {
	uint32_t from;
	int (*run)(struct migrate *migrate, struct err *err);
};

/*
 * In order, from ABI version 9, that of the first release, on. A change of bpf/abi.h that raises
 * the version adds a row before the last, which does nothing. Steps use numbers of their own,
 * because the structs are those of the newest version. A new map needs no step: objects.c marks it
 * `added`.
 */
static const struct migrate_step migrate_steps[] = {
	{ 0, NULL },
};

static const struct migrate_step *migrate_step_from(uint32_t version)
{
	for (const struct migrate_step *step = migrate_steps; step->run; step++)
		if (step->from == version)
			return step;
	return NULL;
}

static bool migrate_has_steps(uint32_t from)
{
	while (from < XBOND_ABI_VERSION && migrate_step_from(from))
		from++;
	return from == XBOND_ABI_VERSION;
}

/*
 * Programs of others see only in the table that their maps are no longer the bond's. So it is a new
 * one whenever another of their maps is.
 */
static void migrate_keep_together(struct migrate *migrate)
{
	static const char *const theirs[] = {
		XBOND_PIN_SETTINGS, XBOND_PIN_BUCKETS, XBOND_PIN_CURSOR, XBOND_PIN_COUNTERS,
		XBOND_PIN_WAKE,	    XBOND_PIN_DOUBT,   XBOND_PIN_LOSSES, XBOND_PIN_ALB,
		XBOND_PIN_VLANS,    XBOND_PIN_LOADS,   XBOND_PIN_MOVES,	 XBOND_PIN_FLOWLETS,
		XBOND_PIN_RECENT,   XBOND_PIN_AFXDP,
	};

	for (size_t i = 0; i < migrate->count; i++)
		for (size_t k = 0; k < sizeof(theirs) / sizeof(theirs[0]); k++)
			if (migrate->images[i].changed &&
			    !strcmp(migrate->objects[i].pin, theirs[k]))
				migrate_value(migrate, XBOND_PIN_TABLE, 0);
}

/* Reads all maps as they are now, and converts the copies. */
static int migrate_convert(struct migrate *migrate, struct err *err)
{
	int r = migrate_maps_read(migrate, err);
	struct xbond_bond *bond;

	for (uint32_t version = migrate->from; !r && version < XBOND_ABI_VERSION; version++)
		r = migrate_step_from(version)->run(migrate, err);
	if (r)
		return r;
	bond = migrate_value(migrate, XBOND_PIN_BOND, 0);
	if (!bond)
		return err_set(err, EBADMSG, "%s has no bond map", migrate->dir);
	bond->abi_version = XBOND_ABI_VERSION;
	migrate_keep_together(migrate);
	return 0;
}

static int migrate_check_place(struct migrate *migrate, struct err *err)
{
	const struct migrate_image *image = migrate_maps_find(migrate, XBOND_PIN_TABLE);
	const struct xbond_table *table = image ? (const void *)image->values : NULL;

	if (!table || image->value_size != sizeof(*table))
		return err_set(err, EBADMSG, "%s has no table", migrate->dir);
	if (link_is_elsewhere(table->netns_cookie))
		return err_set(err, EXDEV,
			       "it belongs to another network namespace; start bondd there, or "
			       "give this bondd its own --bpf-dir");
	return 0;
}

static int migrate_load(struct migrate *migrate, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < migrate->count; i++)
		if (migrate->objects[i].map && !migrate->images[i].changed &&
		    pin_dirs_has(migrate->dir, migrate->objects[i].pin))
			r = objects_reuse(&migrate->objects[i], migrate->dir, err);
	return r ? r : objects_load(migrate->skeleton, err);
}

static int migrate_fill(const struct object *object, const struct migrate_image *image,
			struct err *err)
{
	int fd = objects_fd(object), r = 0;

	for (uint32_t i = 0; !r && i < image->max_entries; i++)
		r = bpf_map_update_elem(fd, &i, migrate_maps_value(image, i), BPF_ANY);
	return r ? err_set(err, -r, "cannot fill %s: %s", object->pin, strerror(-r)) : 0;
}

struct staging {
	struct migrate *migrate;
	const char *dir;
	struct err *err;
};

/* Links, devmaps and everything else that is not an object stays the same. */
static int migrate_pin_other(const char *dir, const char *name, void *arg)
{
	struct staging *staging = arg;
	int fd, r;

	for (size_t i = 0; i < staging->migrate->count; i++)
		if (!strcmp(staging->migrate->objects[i].pin, name))
			return 0;
	fd = pin_open(dir, name);
	if (fd < 0)
		return err_set(staging->err, -fd, "cannot open %s/%s: %s", dir, name,
			       strerror(-fd));
	r = pin_dirs_pin(fd, staging->dir, name, staging->err);
	close(fd);
	return r;
}

static int migrate_stage(struct migrate *migrate, const char *dir, struct err *err)
{
	struct staging staging = { migrate, dir, err };
	int r = pin_dirs_make(dir, err);

	if (!r)
		r = pin_dirs_visit(migrate->dir, migrate_pin_other, &staging);
	for (size_t i = 0; !r && i < migrate->count; i++)
		r = pin_dirs_pin(objects_fd(&migrate->objects[i]), dir, migrate->objects[i].pin,
				 err);
	crashpoint("migrate-staged");
	return r;
}

/*
 * Tells programs of others which maps they have in the table that is pinned now, if the bond is
 * about to get another. Returns what it said before.
 */
static uint32_t migrate_tell_others(struct migrate *migrate, uint32_t select_abi)
{
	const struct migrate_image *image = migrate_maps_find(migrate, XBOND_PIN_TABLE);
	int fd = image && image->changed ? pin_open(migrate->dir, XBOND_PIN_TABLE) : -ENOENT;
	struct xbond_table *table;

	if (fd < 0)
		return 0;
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (table == MAP_FAILED)
		return 0;
	select_abi = __atomic_exchange_n(&table->select_abi, select_abi, __ATOMIC_RELEASE);
	munmap(table, sizeof(*table));
	return select_abi;
}

/* They are told first: told too early they only ask the bond's own device, told never they go
 * wrong. */
static int migrate_exchange(struct migrate *migrate, const char *staging, struct err *err)
{
	uint32_t before = migrate_tell_others(migrate, 0);
	int r = 0;

	if (paths_rename(staging, migrate->dir, true) < 0) {
		r = err_set(err, errno, "cannot exchange %s and %s: %m", staging, migrate->dir);
		migrate_tell_others(migrate, before);
	}
	return r;
}

/* bondctl must not write from the time of the copies until the directories are exchanged. */
static int migrate_copy_and_exchange(struct migrate *migrate, const char *staging, struct err *err)
{
	int lock = open(migrate->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (lock < 0 || flock(lock, LOCK_EX))
		r = err_set(err, errno, "cannot lock %s: %m", migrate->dir);
	if (!r)
		r = migrate_convert(migrate, err);
	for (size_t i = 0; !r && i < migrate->count; i++)
		if (migrate->images[i].changed)
			r = migrate_fill(&migrate->objects[i], &migrate->images[i], err);
	if (!r)
		r = migrate_exchange(migrate, staging, err);
	crashpoint("migrate-exchanged");
	if (lock >= 0)
		close(lock);
	return r;
}

static int migrate_run(struct migrate *migrate, const char *staging, struct err *err)
{
	int r = migrate_convert(migrate, err);

	if (!r)
		r = migrate_check_place(migrate, err);
	if (!r)
		r = migrate_load(migrate, err);
	if (!r)
		r = migrate_stage(migrate, staging, err);
	if (!r)
		r = migrate_copy_and_exchange(migrate, staging, err);
	return r;
}

static int migrate_from(uint32_t from, const char *bpf_dir, const char *name, struct err *err)
{
	struct migrate *migrate = memory_need(calloc(1, sizeof(*migrate)));
	char staging[PATH_MAX];
	int r = -ENOEXEC;

	migrate->from = from;
	pins_path(migrate->dir, sizeof(migrate->dir), bpf_dir, name);
	pin_dirs_staging(staging, sizeof(staging), bpf_dir, name);
	migrate->skeleton =
		objects_open(policy_is_loaded(migrate->dir) ? PROGRAMS_ASK : PROGRAMS_DIRECT, err);
	if (migrate->skeleton) {
		migrate->count = objects_list(migrate->skeleton, migrate->objects);
		r = migrate_run(migrate, staging, err);
		pin_dirs_remove(staging);
	}
	migrate_maps_free(migrate);
	objects_close(migrate->skeleton);
	free(migrate);
	return r;
}

int migrate(const char *bpf_dir, const char *name, struct err *err)
{
	struct err why;
	uint32_t abi;
	int r = pins_abi(bpf_dir, name, &abi, err);

	if (r)
		return r;
	if (abi == XBOND_ABI_VERSION)
		return 0;
	if (abi > XBOND_ABI_VERSION || !migrate_has_steps(abi))
		return err_set(
			err, EPROTO,
			"it was made with ABI version %u, and this bondd supports version %d; "
			"traffic continues under its own programs, as without bondd; start "
			"the bondd that made it, or %s",
			abi, XBOND_ABI_VERSION,
			abi > XBOND_ABI_VERSION ? "a newer one" : "one that knows both versions");
	r = migrate_from(abi, bpf_dir, name, &why);
	if (r)
		return err_set(err, -r,
			       "its maps of ABI version %u could not be converted to version %d "
			       "(%s); traffic continues under its own programs, as without bondd",
			       abi, XBOND_ABI_VERSION, why.text);
	event_notice(name, NULL, "its maps were converted from ABI version %u to %d", abi,
		     XBOND_ABI_VERSION);
	return 0;
}
