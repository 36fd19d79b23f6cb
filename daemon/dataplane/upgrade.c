/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only the kernel can compute the tags of programs, so it loads them once after a boot.
 * RUN_DIR/programs keeps the tags for every later bondd of the same build, so that it starts
 * without the verifier. What it says is only compared with what the kernel says of pinned programs:
 * a record that is missing or wrong costs one load more.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/dataplane/dataplane_pins.h"

#define RECORD "programs"
#define PIN_NAME_SIZE 32
#define TAG_FORMAT "%016" PRIx64

/*
 * This build's objects. A tag covers the instructions, and not the constants in .rodata, of which
 * there is one table.
 */
struct upgrade_build {
	size_t count; /* 0: not known yet */
	struct {
		char pin[PIN_NAME_SIZE];
		bool is_program;
		uint64_t tag; /* as bpftool shows it */
	} object[OBJECTS_MAX];
};

static struct upgrade_build upgrade_builds[PROGRAMS_COUNT];
static const struct paths *upgrade_paths;

static json_t *upgrade_pack(const struct upgrade_build *build)
{
	json_t *json = json_object();

	for (size_t i = 0; i < build->count; i++) {
		char tag[17];

		snprintf(tag, sizeof(tag), TAG_FORMAT, build->object[i].tag);
		json_object_set_new(json, build->object[i].pin,
				    build->object[i].is_program ? json_string(tag) : json_null());
	}
	return json;
}

static void upgrade_unpack(struct upgrade_build *build, json_t *json)
{
	size_t count = 0;
	const char *pin;
	json_t *tag;

	json_object_foreach (json, pin, tag) {
		bool is_program = json_is_string(tag);

		if (count == OBJECTS_MAX || strlen(pin) >= PIN_NAME_SIZE ||
		    (is_program &&
		     sscanf(json_string_value(tag), "%" SCNx64, &build->object[count].tag) != 1))
			return;
		strcpy(build->object[count].pin, pin);
		build->object[count++].is_program = is_program;
	}
	build->count = count;
}

static void upgrade_put_fingerprint(char ret_text[17])
{
	snprintf(ret_text, 17, TAG_FORMAT, objects_fingerprint());
}

/* If it cannot be written, the next bondd learns the tags, too. */
static void upgrade_record(void)
{
	json_t *builds = json_array();
	char fingerprint[17];

	upgrade_put_fingerprint(fingerprint);
	for (int programs = 0; programs < PROGRAMS_COUNT; programs++)
		json_array_append_new(builds, upgrade_pack(&upgrade_builds[programs]));
	run_file_write(upgrade_paths, RECORD,
		       json_pack("{s:s, s:o}", "build", fingerprint, "objects", builds));
}

void upgrade_init(const struct paths *paths)
{
	bool is_of_this_boot;
	json_t *json = run_file_read(paths, RECORD, &is_of_this_boot);
	const char *build = json_string_value(json_object_get(json, "build"));
	char fingerprint[17];

	upgrade_paths = paths;
	upgrade_put_fingerprint(fingerprint);
	if (build && is_of_this_boot && !strcmp(build, fingerprint))
		for (int programs = 0; programs < PROGRAMS_COUNT; programs++)
			upgrade_unpack(
				&upgrade_builds[programs],
				json_array_get(json_object_get(json, "objects"), (size_t)programs));
	json_decref(json);
}

static int upgrade_tag(int program_fd, uint64_t *ret_tag)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(program_fd, &info, &length);

	_Static_assert(sizeof(info.tag) == sizeof(*ret_tag), "a tag");
	memcpy(ret_tag, info.tag, sizeof(*ret_tag));
	*ret_tag = be64toh(*ret_tag);
	return r;
}

int upgrade_learn(enum programs programs, struct xbond_bpf *skeleton, struct err *err)
{
	struct upgrade_build build = { 0 }, *known = &upgrade_builds[programs];
	struct object objects[OBJECTS_MAX];

	build.count = objects_list(skeleton, objects);
	for (size_t i = 0; i < build.count; i++) {
		int r = 0;

		snprintf(build.object[i].pin, PIN_NAME_SIZE, "%s", objects[i].pin);
		build.object[i].is_program = objects[i].program;
		if (objects[i].program)
			r = upgrade_tag(objects_fd(&objects[i]), &build.object[i].tag);
		if (r)
			return err_set(err, -r, "cannot read the programs' tags: %s", strerror(-r));
	}
	if (memcmp(known, &build, sizeof(build))) {
		*known = build;
		upgrade_record();
	}
	return 0;
}

static bool upgrade_has_program(const char *dir, const char *pin, uint64_t tag)
{
	int fd = pin_open(dir, pin);
	uint64_t pinned;
	bool same;

	if (fd < 0)
		return false;
	same = !upgrade_tag(fd, &pinned) && pinned == tag;
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

static int upgrade_load(enum programs programs, struct xbond_bpf *skeleton, const char *dir,
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
	return r ? r : upgrade_learn(programs, skeleton, err);
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
	r = upgrade_load(programs, skeleton, dir, err);
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

/* If it fails, those of the other build stay until bondd starts again. They do the same. */
int upgrade_pins(struct dataplane *dataplane, struct err *err)
{
	bool asks = policy_is_loaded(dataplane->pins.dir);

	dataplane->programs = upgrade_programs(dataplane, asks);
	return upgrade_to(dataplane, asks,
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
