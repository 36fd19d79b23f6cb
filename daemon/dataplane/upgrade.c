/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/upgrade.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/dataplane/objects.h"
#include "daemon/dataplane/pin_dirs.h"

/*
 * This build's objects. Only the kernel can compute the tags of programs, so they are loaded for
 * the first bond. A tag covers the instructions, and not the constants in .rodata, of which there
 * is one table.
 */
struct upgrade_build {
	size_t count; /* 0: not known yet */
	struct {
		const char *pin;
		bool is_program;
		unsigned char tag[BPF_TAG_SIZE];
	} object[OBJECTS_MAX];
};

static struct upgrade_build upgrade_builds[PROGRAMS_COUNT];

static bool upgrade_has_program(const char *dir, const char *pin,
				const unsigned char tag[BPF_TAG_SIZE])
{
	unsigned char pinned[BPF_TAG_SIZE];
	int fd = pin_open(dir, pin);
	bool same;

	if (fd < 0)
		return false;
	same = !objects_tag(fd, pinned) && !memcmp(pinned, tag, BPF_TAG_SIZE);
	close(fd);
	return same;
}

static bool upgrade_is_current(const struct upgrade_build *build, const char *dir, size_t at)
{
	const char *pin = build->object[at].pin;

	return build->object[at].is_program ? upgrade_has_program(dir, pin, build->object[at].tag)
					    : pin_dirs_has(dir, pin);
}

static bool upgrade_all_current(const struct upgrade_build *build, const char *dir)
{
	for (size_t i = 0; i < build->count; i++)
		if (!upgrade_is_current(build, dir, i))
			return false;
	return build->count;
}

static int upgrade_learn(struct upgrade_build *build, const struct object *objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int r = 0;

		build->object[i].pin = objects[i].pin;
		build->object[i].is_program = objects[i].program;
		if (objects[i].program)
			r = objects_tag(objects_fd(&objects[i]), build->object[i].tag);
		if (r)
			return r;
	}
	build->count = count;
	return 0;
}

static int upgrade_load(struct upgrade_build *build, struct xbond_bpf *skeleton, const char *dir,
			struct err *err)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_list(skeleton, objects);
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		if (objects[i].map)
			r = objects_reuse(&objects[i], dir, err);
	if (!r)
		r = objects_load(skeleton, err);
	if (!r) {
		r = upgrade_learn(build, objects, count);
		r = r ? err_set(err, -r, "cannot read the programs' tags: %s", strerror(-r)) : 0;
	}
	return r;
}

static bool upgrade_lacks_a_map(const struct upgrade_build *build, const char *dir)
{
	for (size_t i = 0; i < build->count; i++)
		if (!build->object[i].is_program && !upgrade_is_current(build, dir, i))
			return true;
	return false;
}

/*
 * New maps come before the programs that use them. Each pin is replaced on its own, because all
 * programs share the maps. Programs with the right tags that use a map without a pin are replaced,
 * too.
 */
static int upgrade_replace(const struct upgrade_build *build, struct xbond_bpf *skeleton,
			   const struct dataplane *dataplane, const char *why, struct err *err)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_list(skeleton, objects);
	const char *dir = dataplane->pins.dir;
	bool lacks_a_map = upgrade_lacks_a_map(build, dir);
	char replaced[256] = "";
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		if (upgrade_is_current(build, dir, i) &&
		    !(lacks_a_map && build->object[i].is_program))
			continue;
		r = pin_dirs_replace(objects_fd(&objects[i]), dir, objects[i].pin, err);
		snprintf(replaced + strlen(replaced), sizeof(replaced) - strlen(replaced), " %s",
			 objects[i].pin);
		crashpoint("upgrade-pinned");
	}
	if (!r)
		event_notice(dataplane->pins.bond->name, NULL, "%s%s", why, replaced);
	return r;
}

/* What a bondd that died in upgrade_replace() has left. */
static void upgrade_tidy(const struct upgrade_build *build, const char *dir)
{
	for (size_t i = 0; i < build->count; i++)
		pin_dirs_tidy(dir, build->object[i].pin);
}

static enum programs upgrade_programs(const struct dataplane *dataplane, bool asks)
{
	return dataplane_programs(dataplane->pins.bond, dataplane->pins.settings, asks);
}

static int upgrade_pinned(struct dataplane *dataplane, enum programs programs, const char *why,
			  struct err *err)
{
	struct upgrade_build *build = &upgrade_builds[programs];
	const char *dir = dataplane->pins.dir;
	struct xbond_bpf *skeleton;
	int r;

	upgrade_tidy(build, dir);
	if (upgrade_all_current(build, dir))
		return 0;
	skeleton = objects_open(programs, err);
	if (!skeleton)
		return -ENOEXEC;
	r = upgrade_load(build, skeleton, dir, err);
	upgrade_tidy(build, dir);
	if (!r && !upgrade_all_current(build, dir))
		r = upgrade_replace(build, skeleton, dataplane, why, err);
	objects_close(skeleton);
	return r;
}

static int upgrade_to(struct dataplane *dataplane, bool asks, const char *why, struct err *err)
{
	enum programs programs = upgrade_programs(dataplane, asks);
	int r = upgrade_pinned(dataplane, programs, why, err);

	if (!r)
		dataplane->programs = programs;
	return r;
}

int upgrade_pins(struct dataplane *dataplane, struct err *err)
{
	return upgrade_to(dataplane, policy_is_loaded(dataplane->pins.dir),
			  "had programs of another build or for other options; it now has this "
			  "build's:",
			  err);
}

int upgrade_for_policy(struct dataplane *dataplane, bool asks, struct err *err)
{
	return upgrade_to(dataplane, asks,
			  "now has other programs, because a policy was loaded or removed:", err);
}

int upgrade_without_policy(struct dataplane *dataplane, struct err *err)
{
	return upgrade_to(dataplane, false, "has its programs without a policy again:", err);
}

bool upgrade_is_due(const struct dataplane *dataplane)
{
	bool asks = dataplane->programs == PROGRAMS_ASK;

	return dataplane->programs != upgrade_programs(dataplane, asks);
}

int upgrade_for_path(struct dataplane *dataplane, struct err *err)
{
	return upgrade_to(dataplane, false,
			  "now has other programs, because path or xdp_tx was set:", err);
}
