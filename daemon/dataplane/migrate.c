/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/migrate.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/log.h"
#include "daemon/dataplane/dataplane.h"
#include "daemon/dataplane/objects.h"
#include "daemon/dataplane/pin_dirs.h"

/* One of the old bond's maps in memory. */
struct image {
	const char *pin;
	bool changed;
	/* Copies: of each value, one for each CPU or one. */
	uint32_t value_size, max_entries, copies;
	/* Each of a multiple of 8 bytes, as the kernel has them. */
	uint8_t *values;
};

struct migrate {
	char dir[PATH_MAX];
	uint32_t from;
	struct xbond_bpf *skeleton;
	struct object objects[OBJECTS_MAX];
	size_t count;
	/* Of the object of the same index; without values: not to be read. */
	struct image images[OBJECTS_MAX];
};

static size_t stride(uint32_t value_size)
{
	return (value_size + 7) & ~(size_t)7;
}

static size_t image_size(const struct image *image)
{
	return stride(image->value_size) * image->copies * image->max_entries;
}

static struct image *find(struct migrate *migrate, const char *pin)
{
	for (size_t i = 0; i < migrate->count; i++)
		if (!strcmp(migrate->objects[i].pin, pin) && migrate->images[i].values)
			return &migrate->images[i];
	return NULL;
}

static uint8_t *value_at(const struct image *image, uint32_t index)
{
	return image->values + stride(image->value_size) * image->copies * index;
}

void *migrate_value(struct migrate *migrate, const char *pin, uint32_t index)
{
	struct image *image = find(migrate, pin);

	if (!image || index >= image->max_entries)
		return NULL;
	image->changed = true;
	return value_at(image, index);
}

int migrate_resize(struct migrate *migrate, const char *pin, uint32_t value_size,
		   uint32_t max_entries)
{
	struct image *image = find(migrate, pin), grown;
	size_t old, new, kept;

	if (!image)
		return -ENOENT;
	grown = *image;
	grown.value_size = value_size;
	grown.max_entries = max_entries;
	grown.changed = true;
	grown.values = calloc(1, image_size(&grown));
	if (!grown.values)
		return -ENOMEM;
	old = stride(image->value_size);
	new = stride(value_size);
	kept = image->value_size < value_size ? image->value_size : value_size;
	for (uint32_t i = 0;
	     i <
	     image->copies * (max_entries < image->max_entries ? max_entries : image->max_entries);
	     i++)
		memcpy(grown.values + new *i, image->values + old * i, kept);
	free(image->values);
	*image = grown;
	return 0;
}

/* Of ring buffers and timers nothing can be read: they are shared, or new. */
static bool is_readable(const struct bpf_map_info *info, const struct object *object)
{
	return (info->type == BPF_MAP_TYPE_ARRAY || info->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
	       strcmp(object->pin, XBOND_PIN_HOLD_TIMERS) &&
	       strcmp(object->pin, XBOND_PIN_WATCHDOG);
}

static int read_image(struct image *image, int fd, const struct object *object)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	int cpus = libbpf_num_possible_cpus(), r = bpf_obj_get_info_by_fd(fd, &info, &length);

	if (r || cpus < 0 || !is_readable(&info, object))
		return r ? r : cpus < 0 ? cpus : 0;
	*image = (struct image){
		.value_size = info.value_size,
		.max_entries = info.max_entries,
		.copies = info.type == BPF_MAP_TYPE_PERCPU_ARRAY ? (uint32_t)cpus : 1,
	};
	image->values = calloc(1, image_size(image));
	for (uint32_t i = 0; image->values && !r && i < info.max_entries; i++)
		r = bpf_map_lookup_elem(fd, &i, value_at(image, i));
	return image->values ? r : -ENOMEM;
}

static int read_images(struct migrate *migrate, struct err *err)
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
		r = read_image(&migrate->images[i], fd, &migrate->objects[i]);
		close(fd);
		if (r)
			err_set(err, -r, "cannot read %s/%s: %s", migrate->dir, pin, strerror(-r));
	}
	return r;
}

static const struct migrate_step *step_from(uint32_t version)
{
	for (const struct migrate_step *step = migrate_steps; step->run; step++)
		if (step->from == version)
			return step;
	return NULL;
}

static bool has_steps(uint32_t from)
{
	while (from < XBOND_ABI_VERSION && step_from(from))
		from++;
	return from == XBOND_ABI_VERSION;
}

/* Reads all maps as they are now, and converts the copies. */
static int convert(struct migrate *migrate, struct err *err)
{
	int r = read_images(migrate, err);
	struct xbond_bond *bond;

	for (uint32_t version = migrate->from; !r && version < XBOND_ABI_VERSION; version++)
		r = step_from(version)->run(migrate, err);
	if (r)
		return r;
	bond = migrate_value(migrate, XBOND_PIN_BOND, 0);
	if (!bond)
		return err_set(err, EBADMSG, "%s has no bond map", migrate->dir);
	bond->abi_version = XBOND_ABI_VERSION;
	return 0;
}

static int check_place(struct migrate *migrate, struct err *err)
{
	const struct image *image = find(migrate, XBOND_PIN_TABLE);
	const struct xbond_table *table = image ? (const void *)image->values : NULL;
	uint64_t here = dataplane_netns_cookie();

	if (!table || image->value_size != sizeof(*table))
		return err_set(err, EBADMSG, "%s has no table", migrate->dir);
	if (here && table->netns_cookie && here != table->netns_cookie)
		return err_set(err, EXDEV,
			       "it belongs to another network namespace; start bondd there, or "
			       "give this one "
			       "its own --bpf-dir");
	return 0;
}

static int load(struct migrate *migrate, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < migrate->count; i++)
		if (migrate->objects[i].map && !migrate->images[i].changed &&
		    pin_dirs_has(migrate->dir, migrate->objects[i].pin))
			r = objects_reuse(&migrate->objects[i], migrate->dir, err);
	return r ? r : objects_load(migrate->skeleton, err);
}

static int fill(const struct object *object, const struct image *image, struct err *err)
{
	int fd = objects_fd(object), r = 0;

	if (image->value_size != bpf_map__value_size(object->map) ||
	    image->max_entries != bpf_map__max_entries(object->map))
		return err_set(err, EBADMSG,
			       "the steps of the migration leave %s with a wrong size",
			       object->pin);
	for (uint32_t i = 0; !r && i < image->max_entries; i++)
		r = bpf_map_update_elem(fd, &i, value_at(image, i), BPF_ANY);
	return r ? err_set(err, -r, "cannot fill %s: %s", object->pin, strerror(-r)) : 0;
}

struct staging {
	struct migrate *migrate;
	const char *dir;
	struct err *err;
};

/* Links, devmaps, and whatever else is none of the objects, are what they were. */
static int pin_other(const char *dir, const char *name, void *arg)
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

static int stage(struct migrate *migrate, const char *dir, struct err *err)
{
	struct staging staging = { migrate, dir, err };
	int r = pin_dirs_make(dir, err);

	if (!r)
		r = pin_dirs_visit(migrate->dir, pin_other, &staging);
	for (size_t i = 0; !r && i < migrate->count; i++)
		r = pin_dirs_pin(objects_fd(&migrate->objects[i]), dir, migrate->objects[i].pin,
				 err);
	crashpoint("migrate-staged");
	return r;
}

/* From the copies on, until the directories are exchanged, bondctl must not write. */
static int copy_and_exchange(struct migrate *migrate, const char *staging, struct err *err)
{
	int lock = open(migrate->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (lock < 0 || flock(lock, LOCK_EX))
		r = err_set(err, errno, "cannot lock %s: %m", migrate->dir);
	if (!r)
		r = convert(migrate, err);
	for (size_t i = 0; !r && i < migrate->count; i++)
		if (migrate->images[i].changed)
			r = fill(&migrate->objects[i], &migrate->images[i], err);
	if (!r && renameat2(AT_FDCWD, staging, AT_FDCWD, migrate->dir, RENAME_EXCHANGE) < 0)
		r = err_set(err, errno, "cannot exchange %s and %s: %m", staging, migrate->dir);
	crashpoint("migrate-exchanged");
	if (lock >= 0)
		close(lock);
	return r;
}

static int run(struct migrate *migrate, const char *staging, struct err *err)
{
	int r = convert(migrate, err);

	if (!r)
		r = check_place(migrate, err);
	if (!r)
		r = load(migrate, err);
	if (!r)
		r = stage(migrate, staging, err);
	if (!r)
		r = copy_and_exchange(migrate, staging, err);
	return r;
}

static int migrate_from(uint32_t from, const char *bpf_dir, const char *name, struct err *err)
{
	struct migrate *migrate = calloc(1, sizeof(*migrate));
	char staging[PATH_MAX];
	int r = -ENOEXEC;

	if (!migrate)
		return err_set(err, ENOMEM, "out of memory");
	migrate->from = from;
	pins_path(migrate->dir, sizeof(migrate->dir), bpf_dir, name);
	pin_dirs_staging(staging, sizeof(staging), bpf_dir, name);
	migrate->skeleton = objects_open(err);
	if (migrate->skeleton) {
		migrate->count = objects_list(migrate->skeleton, migrate->objects);
		r = run(migrate, staging, err);
		pin_dirs_remove(staging);
	}
	for (size_t i = 0; i < migrate->count; i++)
		free(migrate->images[i].values);
	objects_close(migrate->skeleton);
	free(migrate);
	return r;
}

int migrate(const char *bpf_dir, const char *name, struct err *err)
{
	uint32_t abi = pins_abi(bpf_dir, name, err);
	struct err why;
	int r;

	if (!abi)
		return -EBADMSG;
	if (abi == XBOND_ABI_VERSION)
		return 0;
	if (abi > XBOND_ABI_VERSION || !has_steps(abi))
		return err_set(err, EPROTO,
			       "it was made with ABI version %u, and this bondd speaks version %d; "
			       "traffic goes "
			       "on under its own programs, as without bondd; start the bondd that "
			       "made it, or %s",
			       abi, XBOND_ABI_VERSION,
			       abi > XBOND_ABI_VERSION ? "a newer one"
						       : "one that knows both versions");
	r = migrate_from(abi, bpf_dir, name, &why);
	if (r)
		return err_set(err, -r,
			       "its maps of ABI version %u could not become version %d (%s); "
			       "traffic goes on "
			       "under its own programs, as without bondd",
			       abi, XBOND_ABI_VERSION, why.text);
	log_notice("%s: its maps have gone from ABI version %u to %d", name, abi,
		   XBOND_ABI_VERSION);
	return 0;
}
