/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
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

size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX])
{
	const struct object objects[] = {
		{ .pin = XBOND_PIN_SETTINGS, .map = skeleton->maps.data_settings },
		{ .pin = XBOND_PIN_TABLE, .map = skeleton->maps.data_table },
		{ .pin = XBOND_PIN_BUCKETS, .map = skeleton->maps.data_buckets },
		{ .pin = XBOND_PIN_BOND, .map = skeleton->maps.bond },
		{ .pin = XBOND_PIN_SLAVES, .map = skeleton->maps.slaves },
		{ .pin = XBOND_PIN_ATTACHED, .map = skeleton->maps.attached, .added = true },
		{ .pin = XBOND_PIN_MONITORS, .map = skeleton->maps.monitors, .added = true },
		{ .pin = XBOND_PIN_BFD, .map = skeleton->maps.data_bfd, .added = true },
		{ .pin = XBOND_PIN_BFD_PACKETS, .map = skeleton->maps.bfd_packets, .added = true },
		{ .pin = XBOND_PIN_BFD_TIMERS, .map = skeleton->maps.bfd_timers, .added = true },
		{ .pin = XBOND_PIN_FAILOVER, .map = skeleton->maps.failover, .added = true },
		{ .pin = XBOND_PIN_WAKE, .map = skeleton->maps.data_wake, .added = true },
		{ .pin = XBOND_PIN_DOUBT, .map = skeleton->maps.data_doubt, .added = true },
		{ .pin = XBOND_PIN_LOSSES, .map = skeleton->maps.losses, .added = true },
		{ .pin = XBOND_PIN_DEVICES, .map = skeleton->maps.devices, .added = true },
		{ .pin = XBOND_PIN_TOLD, .map = skeleton->maps.data_told, .added = true },
		{ .pin = XBOND_PIN_PROBES, .map = skeleton->maps.data_probes, .added = true },
		{ .pin = XBOND_PIN_XDP_SLAVES, .map = skeleton->maps.xdp_slaves, .added = true },
		{ .pin = XBOND_PIN_XDP_ALL, .map = skeleton->maps.xdp_all, .added = true },
		{ .pin = XBOND_PIN_QUALITY, .map = skeleton->maps.quality, .added = true },
		{ .pin = XBOND_PIN_ALB, .map = skeleton->maps.data_alb, .added = true },
		{ .pin = XBOND_PIN_VLANS, .map = skeleton->maps.data_vlans, .added = true },
		{ .pin = XBOND_PIN_OWN_VLANS, .map = skeleton->maps.data_own_vlans, .added = true },
		{ .pin = XBOND_PIN_CLIENTS, .map = skeleton->maps.clients, .added = true },
		{ .pin = XBOND_PIN_RECEIVERS, .map = skeleton->maps.data_receivers, .added = true },
		{ .pin = XBOND_PIN_POLICY, .map = skeleton->maps.policy, .added = true },
		{ .pin = XBOND_PIN_POLICY_XDP, .map = skeleton->maps.policy_xdp, .added = true },
		{ .pin = XBOND_PIN_POLICY_QUESTION,
		  .map = skeleton->maps.xbond_policy_1,
		  .added = true },
		{ .pin = XBOND_PIN_LOADS, .map = skeleton->maps.loads, .added = true },
		{ .pin = XBOND_PIN_MOVES, .map = skeleton->maps.data_moves, .added = true },
		{ .pin = XBOND_PIN_FLOWLETS, .map = skeleton->maps.data_flowlets, .added = true },
		{ .pin = XBOND_PIN_RECENT, .map = skeleton->maps.recent, .added = true },
		{ .pin = XBOND_PIN_DROPS, .map = skeleton->maps.drops, .added = true },
		{ .pin = XBOND_PIN_AFXDP, .map = skeleton->maps.afxdp, .added = true },
		{ .pin = XBOND_PIN_COUNTERS, .map = skeleton->maps.counters },
		{ .pin = XBOND_PIN_HOLD, .map = skeleton->maps.data_hold },
		{ .pin = XBOND_PIN_HOLD_TIMERS, .map = skeleton->maps.hold_timers },
		{ .pin = XBOND_PIN_WATCHDOG, .map = skeleton->maps.watchdog },
		{ .pin = XBOND_PIN_PDUS, .map = skeleton->maps.pdus },
		{ .pin = XBOND_PIN_LACP, .map = skeleton->maps.lacp },
		{ .pin = XBOND_PIN_CURSOR, .map = skeleton->maps.data_cursor },
		{ .pin = XBOND_PIN_PROG_EGRESS, .program = skeleton->progs.xbond_egress_pair },
		{ .pin = XBOND_PIN_PROG_EGRESS, .program = skeleton->progs.xbond_egress },
		{ .pin = XBOND_PIN_PROG_PORT, .program = skeleton->progs.xbond_port },
		{ .pin = XBOND_PIN_PROG_EGRESS, .program = skeleton->progs.xbond_egress_asks },
		{ .pin = XBOND_PIN_PROG_PORT, .program = skeleton->progs.xbond_port_asks },
		{ .pin = XBOND_PIN_PROG_POLICY_TRY, .program = skeleton->progs.xbond_policy_try },
		{ .pin = XBOND_PIN_PROG_RX, .program = skeleton->progs.xbond_rx },
		{ .pin = XBOND_PIN_PROG_BEAT, .program = skeleton->progs.xbond_beat },
		{ .pin = XBOND_PIN_PROG_LOOK, .program = skeleton->progs.xbond_look },
		{ .pin = XBOND_PIN_PROG_EXIT, .program = skeleton->progs.xbond_exit },
	};

	size_t count = 0;

	_Static_assert(sizeof(objects) <= OBJECTS_MAX * sizeof(objects[0]), "room for all pins");
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		if (!objects[i].program || bpf_program__autoload(objects[i].program))
			ret_objects[count++] = objects[i];
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
