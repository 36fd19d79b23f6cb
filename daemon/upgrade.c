/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upgrade.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/crashpoint.h"
#include "daemon/log.h"
#include "daemon/objects.h"
#include "daemon/pin_dirs.h"

/*
 * Of this build's programs, in the order of objects_list(): only the kernel can tell, so they are loaded for the first
 * bond. A tag is of instructions: constants in .rodata, of which there is one table, are not in it.
 */
static struct {
	bool known;
	unsigned char tag[OBJECTS_MAX][BPF_TAG_SIZE];
} build;

static bool is_pinned(const struct dataplane *dataplane, const char *pin)
{
	char path[PIN_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", dataplane->pins.dir, pin);
	return !access(path, F_OK);
}

static bool has_program(const struct dataplane *dataplane, const char *pin,
			const unsigned char tag[BPF_TAG_SIZE])
{
	unsigned char pinned[BPF_TAG_SIZE];
	char path[PIN_PATH_SIZE];
	bool same;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dataplane->pins.dir, pin);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return false;
	same = !objects_tag(fd, pinned) && !memcmp(pinned, tag, BPF_TAG_SIZE);
	close(fd);
	return same;
}

static bool is_current(const struct dataplane *dataplane, const struct object *object, size_t at)
{
	return object->map ? is_pinned(dataplane, object->pin)
			   : has_program(dataplane, object->pin, build.tag[at]);
}

static int load(struct xbond_bpf *skeleton, const struct dataplane *dataplane, struct err *err)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_list(skeleton, objects);
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		if (objects[i].map)
			r = objects_reuse(&objects[i], dataplane->pins.dir, err);
	if (!r)
		r = objects_load(skeleton, err);
	for (size_t i = 0; !r && i < count; i++)
		if (objects[i].program)
			r = objects_tag(objects_fd(&objects[i]), build.tag[i]);
	build.known = build.known || !r;
	return r;
}

/* Maps that are new come before the programs that use them. Each pin is replaced for itself: all programs share the maps. */
static int replace(const struct object *objects, size_t count, const struct dataplane *dataplane,
		   struct err *err)
{
	const char *dir = dataplane->pins.dir;
	char replaced[256] = "";
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		if (is_current(dataplane, &objects[i], i))
			continue;
		r = pin_dirs_replace(objects_fd(&objects[i]), dir, objects[i].pin, err);
		snprintf(replaced + strlen(replaced), sizeof(replaced) - strlen(replaced), " %s",
			 objects[i].pin);
		crashpoint("upgrade-pinned");
	}
	if (!r)
		log_notice("%s: was made by another build; it has got this one's%s",
			   dataplane->pins.bond->name, replaced);
	return r;
}

static bool all_current(const struct object *objects, size_t count, const struct dataplane *dataplane)
{
	for (size_t i = 0; i < count; i++)
		if (!is_current(dataplane, &objects[i], i))
			return false;
	return true;
}

int upgrade_pins(struct dataplane *dataplane, struct err *err)
{
	struct xbond_bpf *skeleton = objects_open(err);
	struct object objects[OBJECTS_MAX];
	size_t count;
	int r = 0;

	if (!skeleton)
		return -ENOEXEC;
	count = objects_list(skeleton, objects);
	for (size_t i = 0; i < count; i++)
		pin_dirs_tidy(dataplane->pins.dir, objects[i].pin);
	if (!build.known || !all_current(objects, count, dataplane))
		r = load(skeleton, dataplane, err);
	if (!r && !all_current(objects, count, dataplane))
		r = replace(objects, count, dataplane, err);
	objects_close(skeleton);
	return r;
}
