/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xbond.skel.h"
#include "common/bpf_log.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/dataplane/dataplane_pins.h"

void dataplane_init(void)
{
	bpf_log_init();
}

static int objects_refused(int r, struct err *err)
{
	/* The latest of what the programs need. Distributions have it in some older kernels. */
	if (!libbpf_probe_bpf_helper(BPF_PROG_TYPE_SCHED_CLS, BPF_FUNC_loop, NULL))
		return err_set(err, EOPNOTSUPP,
			       "this kernel is too old: its BPF lacks bpf_loop(), which Linux has "
			       "since 5.17");
	return err_set(err, -r, "the kernel refused the BPF program: %s%s", strerror(-r),
		       bpf_log_last());
}

/* bondd can do without it: dataplane_watch_exit(). */
static void objects_leave_out_exit(struct xbond_bpf *skeleton)
{
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL) != 1)
		bpf_program__set_autoload(skeleton->progs.xbond_exit, false);
}

/* Only programs that ask a policy contain a tail call, which not every architecture takes. */
static void objects_choose_programs(struct xbond_bpf *skeleton, enum programs programs)
{
	bool asks = programs == PROGRAMS_ASK;

	bpf_program__set_autoload(skeleton->progs.xbond_egress_pair, programs == PROGRAMS_PAIR);
	bpf_program__set_autoload(skeleton->progs.xbond_egress, programs == PROGRAMS_DIRECT);
	bpf_program__set_autoload(skeleton->progs.xbond_port, !asks);
	bpf_program__set_autoload(skeleton->progs.xbond_egress_asks, asks);
	bpf_program__set_autoload(skeleton->progs.xbond_port_asks, asks);
	bpf_program__set_autoload(skeleton->progs.xbond_policy_try, asks);
}

struct xbond_bpf *objects_open(enum programs programs, struct err *err)
{
	struct xbond_bpf *skeleton;

	bpf_log_start();
	skeleton = xbond_bpf__open();
	if (!skeleton) {
		objects_refused(-errno, err);
		return NULL;
	}
	/* Lockdown may forbid it. */
	skeleton->rodata_netdev->netdev_may_copy =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_SCHED_CLS, BPF_FUNC_probe_read_kernel,
					NULL) == 1;
	objects_leave_out_exit(skeleton);
	objects_choose_programs(skeleton, programs);
	return skeleton;
}

void objects_close(struct xbond_bpf *skeleton)
{
	xbond_bpf__destroy(skeleton);
}

#define MAP(name) .map = offsetof(struct xbond_bpf, maps.name)
#define PROGRAM(name) .program = offsetof(struct xbond_bpf, progs.name)

static const struct {
	const char *pin;
	size_t map, program; /* one of them is given */
	bool added;
} object_rows[] = {
	{ XBOND_PIN_SETTINGS, MAP(data_settings) },
	{ XBOND_PIN_TABLE, MAP(data_table) },
	{ XBOND_PIN_BUCKETS, MAP(data_buckets) },
	{ XBOND_PIN_BOND, MAP(bond) },
	{ XBOND_PIN_SLAVES, MAP(slaves) },
	{ XBOND_PIN_ATTACHED, MAP(attached), .added = true },
	{ XBOND_PIN_MONITORS, MAP(monitors), .added = true },
	{ XBOND_PIN_BFD, MAP(data_bfd), .added = true },
	{ XBOND_PIN_BFD_PACKETS, MAP(bfd_packets), .added = true },
	{ XBOND_PIN_BFD_TIMERS, MAP(bfd_timers), .added = true },
	{ XBOND_PIN_FAILOVER, MAP(failover), .added = true },
	{ XBOND_PIN_WAKE, MAP(data_wake), .added = true },
	{ XBOND_PIN_DOUBT, MAP(data_doubt), .added = true },
	{ XBOND_PIN_LOSSES, MAP(losses), .added = true },
	{ XBOND_PIN_DEVICES, MAP(devices), .added = true },
	{ XBOND_PIN_TOLD, MAP(data_told), .added = true },
	{ XBOND_PIN_PROBES, MAP(data_probes), .added = true },
	{ XBOND_PIN_XDP_SLAVES, MAP(xdp_slaves), .added = true },
	{ XBOND_PIN_XDP_ALL, MAP(xdp_all), .added = true },
	{ XBOND_PIN_QUALITY, MAP(quality), .added = true },
	{ XBOND_PIN_ALB, MAP(data_alb), .added = true },
	{ XBOND_PIN_VLANS, MAP(data_vlans), .added = true },
	{ XBOND_PIN_OWN_VLANS, MAP(data_own_vlans), .added = true },
	{ XBOND_PIN_CLIENTS, MAP(clients), .added = true },
	{ XBOND_PIN_RECEIVERS, MAP(data_receivers), .added = true },
	{ XBOND_PIN_POLICY, MAP(policy), .added = true },
	{ XBOND_PIN_POLICY_XDP, MAP(policy_xdp), .added = true },
	{ XBOND_PIN_POLICY_QUESTION, MAP(XBOND_POLICY_QUESTION), .added = true },
	{ XBOND_PIN_LOADS, MAP(loads), .added = true },
	{ XBOND_PIN_MOVES, MAP(data_moves), .added = true },
	{ XBOND_PIN_FLOWLETS, MAP(data_flowlets), .added = true },
	{ XBOND_PIN_RECENT, MAP(recent), .added = true },
	{ XBOND_PIN_DROPS, MAP(drops), .added = true },
	{ XBOND_PIN_AFXDP, MAP(afxdp), .added = true },
	{ XBOND_PIN_COUNTERS, MAP(counters) },
	{ XBOND_PIN_HOLD, MAP(data_hold) },
	{ XBOND_PIN_HOLD_TIMERS, MAP(hold_timers) },
	{ XBOND_PIN_WATCHDOG, MAP(watchdog) },
	{ XBOND_PIN_PDUS, MAP(pdus) },
	{ XBOND_PIN_LACP, MAP(lacp) },
	{ XBOND_PIN_CURSOR, MAP(data_cursor) },
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress_pair) },
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress) },
	{ XBOND_PIN_PROG_PORT, PROGRAM(xbond_port) },
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress_asks) },
	{ XBOND_PIN_PROG_PORT, PROGRAM(xbond_port_asks) },
	{ XBOND_PIN_PROG_POLICY_TRY, PROGRAM(xbond_policy_try) },
	{ XBOND_PIN_PROG_RX, PROGRAM(xbond_rx) },
	{ XBOND_PIN_PROG_BEAT, PROGRAM(xbond_beat) },
	{ XBOND_PIN_PROG_LOOK, PROGRAM(xbond_look) },
	{ XBOND_PIN_PROG_EXIT, PROGRAM(xbond_exit) },
};
#define OBJECT_ROWS (sizeof(object_rows) / sizeof(object_rows[0]))

size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX])
{
	size_t count = 0;

	_Static_assert(OBJECT_ROWS <= OBJECTS_MAX, "room for all pins");
	for (size_t i = 0; i < OBJECT_ROWS; i++) {
		const char *at = (const char *)skeleton;
		struct object object = { .pin = object_rows[i].pin, .added = object_rows[i].added };

		if (object_rows[i].map)
			object.map = *(struct bpf_map *const *)(at + object_rows[i].map);
		else
			object.program =
				*(struct bpf_program *const *)(at + object_rows[i].program);
		if (object.map || bpf_program__autoload(object.program))
			ret_objects[count++] = object;
	}
	return count;
}

static int objects_check_shape(const struct bpf_map *map, int fd, const char *path, struct err *err)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(fd, &info, &length);

	if (r)
		return err_set(err, -r, "cannot read what %s is: %s", path, strerror(-r));
	if (info.type == bpf_map__type(map) && info.key_size == bpf_map__key_size(map) &&
	    info.value_size == bpf_map__value_size(map) &&
	    info.max_entries == bpf_map__max_entries(map))
		return 0;
	return err_set(err, EBADMSG,
		       "%s is not of the type and size that this build's programs need", path);
}

int objects_reuse(const struct object *object, const char *dir, struct err *err)
{
	char path[PIN_PATH_SIZE];
	int fd, r;

	pin_path(path, dir, object->pin);
	fd = pin_open(dir, object->pin);
	if (fd == -ENOENT && object->added)
		return 0;
	if (fd < 0)
		return err_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	r = objects_check_shape(object->map, fd, path, err);
	if (!r) {
		r = bpf_map__reuse_fd(object->map, fd);
		r = r < 0 ? err_set(err, -r, "cannot use %s: %s", path, strerror(-r)) : 0;
	}
	close(fd);
	return r;
}

struct objects_loading {
	struct xbond_bpf *skeleton;
	int result;
};

static void objects_do_load(void *arg)
{
	struct objects_loading *loading = arg;

	loading->result = xbond_bpf__load(loading->skeleton);
}

/* The verifier takes some 100 ms. Other bonds are served meanwhile. */
int objects_load(struct xbond_bpf *skeleton, struct err *err)
{
	struct objects_loading loading = { .skeleton = skeleton };

	idle_run(objects_do_load, &loading);
	return loading.result < 0 ? objects_refused(loading.result, err) : 0;
}

int objects_fd(const struct object *object)
{
	return object->map ? bpf_map__fd(object->map) : bpf_program__fd(object->program);
}

static int objects_tag(int program_fd, unsigned char ret_tag[BPF_TAG_SIZE])
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(program_fd, &info, &length);

	if (!r)
		memcpy(ret_tag, info.tag, BPF_TAG_SIZE);
	return r;
}

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
