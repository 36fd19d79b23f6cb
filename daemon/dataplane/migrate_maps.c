/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/migrate_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "daemon/dataplane/pin_dirs.h"

static size_t migrate_maps_stride(uint32_t value_size)
{
	return (value_size + 7) & ~(size_t)7;
}

static size_t migrate_maps_image_size(const struct migrate_image *image)
{
	return migrate_maps_stride(image->value_size) * image->copies * image->max_entries;
}

uint8_t *migrate_maps_value(const struct migrate_image *image, uint32_t index)
{
	return image->values + migrate_maps_stride(image->value_size) * image->copies * index;
}

struct migrate_image *migrate_maps_find(struct migrate *migrate, const char *pin)
{
	for (size_t i = 0; i < migrate->count; i++)
		if (!strcmp(migrate->objects[i].pin, pin) && migrate->images[i].values)
			return &migrate->images[i];
	return NULL;
}

void *migrate_value(struct migrate *migrate, const char *pin, uint32_t index)
{
	struct migrate_image *image = migrate_maps_find(migrate, pin);

	if (!image || index >= image->max_entries)
		return NULL;
	image->changed = true;
	return migrate_maps_value(image, index);
}

int migrate_resize(struct migrate *migrate, const char *pin, uint32_t value_size,
		   uint32_t max_entries)
{
	struct migrate_image *image = migrate_maps_find(migrate, pin), grown;
	size_t old, new, kept;

	if (!image)
		return -ENOENT;
	grown = *image;
	grown.value_size = value_size;
	grown.max_entries = max_entries;
	grown.changed = true;
	grown.values = memory_need(calloc(1, migrate_maps_image_size(&grown)));
	old = migrate_maps_stride(image->value_size);
	new = migrate_maps_stride(value_size);
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

/* The contents of ring buffers and timers cannot be read. Such maps are shared, or new. */
static bool migrate_maps_is_readable(const struct bpf_map_info *info, const struct object *object)
{
	return (info->type == BPF_MAP_TYPE_ARRAY || info->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
	       strcmp(object->pin, XBOND_PIN_HOLD_TIMERS) &&
	       strcmp(object->pin, XBOND_PIN_WATCHDOG);
}

static int migrate_maps_read_image(struct migrate_image *image, int fd, const struct object *object)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	int cpus = libbpf_num_possible_cpus(), r = bpf_obj_get_info_by_fd(fd, &info, &length);

	if (r || cpus < 0 || !migrate_maps_is_readable(&info, object))
		return r ? r : cpus < 0 ? cpus : 0;
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

int migrate_maps_read(struct migrate *migrate, struct err *err)
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
		if (r)
			err_set(err, -r, "cannot read %s/%s: %s", migrate->dir, pin, strerror(-r));
	}
	return r;
}

void migrate_maps_free(struct migrate *migrate)
{
	for (size_t i = 0; i < migrate->count; i++)
		free(migrate->images[i].values);
}
