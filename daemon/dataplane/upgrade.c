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
#define TEXT_SIZE (2 * sizeof(uint64_t) + 1)

/* Of a program of this build. It covers the instructions, and not the constants in .rodata. */
struct upgrade_tag {
	const char *program;
	bool is_absent; /* this kernel does not take the program */
	uint64_t tag;	/* as bpftool shows it */
};

static struct upgrade_tag upgrade_tags[OBJECTS_MAX];
static size_t upgrade_tag_count;
static const struct paths *upgrade_paths;

static struct upgrade_tag *upgrade_find(const char *program)
{
	for (size_t i = 0; i < upgrade_tag_count; i++)
		if (!strcmp(upgrade_tags[i].program, program))
			return &upgrade_tags[i];
	return NULL;
}

/* Returns whether that is new. */
static bool upgrade_know(const struct upgrade_tag *tag)
{
	struct upgrade_tag *known = upgrade_find(tag->program);

	if (known && known->is_absent == tag->is_absent && known->tag == tag->tag)
		return false;
	if (!known)
		known = &upgrade_tags[upgrade_tag_count++];
	*known = *tag;
	return true;
}

static void upgrade_print(uint64_t number, char ret_text[TEXT_SIZE])
{
	snprintf(ret_text, TEXT_SIZE, "%016" PRIx64, number);
}

/* If it cannot be written, the next bondd learns the tags, too. */
static void upgrade_record(void)
{
	json_t *tags = json_object();
	char text[TEXT_SIZE];

	for (size_t i = 0; i < upgrade_tag_count; i++) {
		upgrade_print(upgrade_tags[i].tag, text);
		if (!upgrade_tags[i].is_absent)
			json_object_set_new(tags, upgrade_tags[i].program, json_string(text));
	}
	upgrade_print(objects_fingerprint(), text);
	run_file_write(upgrade_paths, RECORD, json_pack("{s:s, s:o}", "build", text, "tags", tags));
}

static void upgrade_read_tag(const char *program, const json_t *tags)
{
	const char *text = json_string_value(json_object_get(tags, program));
	struct upgrade_tag tag = { .program = program };

	if (text && sscanf(text, "%" SCNx64, &tag.tag) == 1)
		upgrade_know(&tag);
}

static void upgrade_read_tags(enum programs programs, const json_t *tags)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_expect(programs, objects);

	for (size_t i = 0; i < count; i++)
		if (objects[i].program_name)
			upgrade_read_tag(objects[i].program_name, tags);
}

void upgrade_init(const struct paths *paths)
{
	bool is_of_this_boot;
	json_t *json = run_file_read(paths, RECORD, &is_of_this_boot);
	const char *build = json_string_value(json_object_get(json, "build"));
	char ours[TEXT_SIZE];

	upgrade_paths = paths;
	upgrade_print(objects_fingerprint(), ours);
	if (build && is_of_this_boot && !strcmp(build, ours))
		for (int programs = 0; programs < PROGRAMS_COUNT; programs++)
			upgrade_read_tags((enum programs)programs, json_object_get(json, "tags"));
	json_decref(json);
}

static int upgrade_tag_of(int program_fd, uint64_t *ret_tag)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(program_fd, &info, &length);

	_Static_assert(sizeof(info.tag) == sizeof(*ret_tag), "a tag");
	memcpy(ret_tag, info.tag, sizeof(*ret_tag));
	*ret_tag = be64toh(*ret_tag);
	return r;
}

/* What this kernel does not take is known, too, but not to the next bondd: it may take it then. */
static bool upgrade_know_absent(enum programs programs)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_expect(programs, objects);
	bool is_new = false;

	for (size_t i = 0; i < count; i++)
		if (objects[i].program_name && !upgrade_find(objects[i].program_name))
			is_new |= upgrade_know(&(struct upgrade_tag){
				.program = objects[i].program_name, .is_absent = true });
	return is_new;
}

int upgrade_learn(enum programs programs, struct xbond_bpf *skeleton, struct err *err)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_list(skeleton, objects);
	bool is_new = false;

	for (size_t i = 0; i < count; i++) {
		struct upgrade_tag tag = { .program = objects[i].program_name };
		int r = tag.program ? upgrade_tag_of(objects_fd(&objects[i]), &tag.tag) : 0;

		if (r)
			return err_set(err, -r, "cannot read the programs' tags: %s", strerror(-r));
		is_new |= tag.program && upgrade_know(&tag);
	}
	is_new |= upgrade_know_absent(programs);
	if (is_new)
		upgrade_record();
	return 0;
}

static bool upgrade_has_program(const char *dir, const struct object *object)
{
	const struct upgrade_tag *known = upgrade_find(object->program_name);
	uint64_t pinned;
	bool same;
	int fd;

	if (!known || known->is_absent)
		return known;
	fd = pin_open(dir, object->pin);
	if (fd < 0)
		return false;
	same = !upgrade_tag_of(fd, &pinned) && pinned == known->tag;
	close(fd);
	return same;
}

static bool upgrade_is_current(const char *dir, const struct object *object)
{
	return object->program_name ? upgrade_has_program(dir, object)
				    : pin_dirs_has(dir, object->pin);
}

static bool upgrade_all_current(enum programs programs, const char *dir)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_expect(programs, objects);

	for (size_t i = 0; i < count; i++)
		if (!upgrade_is_current(dir, &objects[i]))
			return false;
	return true;
}

static bool upgrade_lacks_a_map(enum programs programs, const char *dir)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_expect(programs, objects);

	for (size_t i = 0; i < count; i++)
		if (!objects[i].program_name && !pin_dirs_has(dir, objects[i].pin))
			return true;
	return false;
}

/* Leaves out programs with the right tags, unless all are wanted. Returns the number of objects. */
static size_t upgrade_choose(struct xbond_bpf *skeleton, const char *dir, bool all,
			     struct object ret_objects[OBJECTS_MAX])
{
	size_t count = objects_list(skeleton, ret_objects);

	for (size_t i = 0; i < count; i++)
		if (ret_objects[i].program && !all && upgrade_is_current(dir, &ret_objects[i]))
			bpf_program__set_autoload(ret_objects[i].program, false);
	return objects_list(skeleton, ret_objects);
}

static int upgrade_load(enum programs programs, struct xbond_bpf *skeleton,
			const struct object *objects, size_t count, const char *dir,
			struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		if (objects[i].map)
			r = objects_reuse(&objects[i], dir, err);
	if (!r)
		r = objects_load(skeleton, err);
	return r ? r : upgrade_learn(programs, skeleton, err);
}

/*
 * Each pin is replaced on its own, because all programs share the maps. all: programs with the
 * right tags are replaced, too. That is so while a map has no pin, so new maps come last: if bondd
 * dies before, the next one replaces them all again.
 */
static int upgrade_replace(const struct object *objects, size_t count, bool all,
			   const struct dataplane *dataplane, const char *why, struct err *err)
{
	const char *dir = dataplane->pins.dir;
	char replaced[256] = "";
	int r = 0;

	for (size_t i = count; !r && i-- > 0;) {
		if (upgrade_is_current(dir, &objects[i]) && !(all && objects[i].program))
			continue;
		r = pin_dirs_replace(objects_fd(&objects[i]), dir, objects[i].pin, err);
		snprintf(replaced + strlen(replaced), sizeof(replaced) - strlen(replaced), " %s",
			 objects[i].pin);
		crashpoint("upgrade-pinned");
	}
	if (!r && replaced[0])
		event_notice(dataplane->pins.bond->name, NULL, "%s%s", why, replaced);
	return r;
}

/* What a bondd that died in upgrade_replace() has left. */
static void upgrade_tidy(enum programs programs, const char *dir)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_expect(programs, objects);

	for (size_t i = 0; i < count; i++)
		pin_dirs_tidy(dir, objects[i].pin);
}

static enum programs upgrade_programs(const struct dataplane *dataplane, bool asks)
{
	return dataplane_programs(dataplane->pins.bond, dataplane->pins.settings, asks);
}

static int upgrade_pinned(struct dataplane *dataplane, enum programs programs, const char *why,
			  struct err *err)
{
	const char *dir = dataplane->pins.dir;
	struct object objects[OBJECTS_MAX];
	struct xbond_bpf *skeleton;
	bool all; /* they use a map that has no pin */
	size_t count;
	int r;

	upgrade_tidy(programs, dir);
	if (upgrade_all_current(programs, dir))
		return 0;
	skeleton = objects_open(programs, err);
	if (!skeleton)
		return -ENOEXEC;
	all = upgrade_lacks_a_map(programs, dir);
	count = upgrade_choose(skeleton, dir, all, objects);
	r = upgrade_load(programs, skeleton, objects, count, dir, err);
	if (!r) {
		dataplane_end_idle_timers(dataplane);
		r = upgrade_replace(objects, count, all, dataplane, why, err);
	}
	objects_close(skeleton);
	return r;
}

int upgrade_to(struct dataplane *dataplane, bool asks, const char *why, struct err *err)
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

bool upgrade_is_due(const struct dataplane *dataplane)
{
	bool asks = dataplane->programs == PROGRAMS_ASK;

	return dataplane->programs != upgrade_programs(dataplane, asks);
}
