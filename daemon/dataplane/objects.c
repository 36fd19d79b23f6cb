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
#include "common/err.h"
#include "common/pins.h"
#include "daemon/base/main_loop.h"
#include "daemon/dataplane/dataplane_pins.h"

void dataplane_init(const struct paths *paths)
{
	bpf_log_init();
	upgrade_init(paths);
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

#define MAP(name) .map = offsetof(struct xbond_bpf, maps.name)
#define PROGRAM(name_) .name = #name_, .program = offsetof(struct xbond_bpf, progs.name_)
#define PAIR .of = 1 << PROGRAMS_PAIR
#define DIRECT .of = 1 << PROGRAMS_DIRECT
#define NO_POLICY .of = 1 << PROGRAMS_PAIR | 1 << PROGRAMS_DIRECT
#define ASK .of = 1 << PROGRAMS_ASK

static const struct {
	const char *pin;
	const char *name;    /* of a program */
	size_t map, program; /* one of them is given */
	unsigned int of;     /* bonds with these programs; 0: all */
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
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress_pair), PAIR },
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress), DIRECT },
	{ XBOND_PIN_PROG_PORT, PROGRAM(xbond_port), NO_POLICY },
	{ XBOND_PIN_PROG_EGRESS, PROGRAM(xbond_egress_asks), ASK },
	{ XBOND_PIN_PROG_PORT, PROGRAM(xbond_port_asks), ASK },
	{ XBOND_PIN_PROG_POLICY_TRY, PROGRAM(xbond_policy_try), ASK },
	{ XBOND_PIN_PROG_RX, PROGRAM(xbond_rx) },
	{ XBOND_PIN_PROG_BEAT, PROGRAM(xbond_beat) },
	{ XBOND_PIN_PROG_LOOK, PROGRAM(xbond_look) },
	{ XBOND_PIN_PROG_EXIT, PROGRAM(xbond_exit) },
};
#define OBJECT_ROWS (sizeof(object_rows) / sizeof(object_rows[0]))

static struct bpf_program *objects_program(struct xbond_bpf *skeleton, size_t row)
{
	return *(struct bpf_program *const *)((const char *)skeleton + object_rows[row].program);
}

static bool objects_is_of(size_t row, enum programs programs)
{
	return !object_rows[row].of || object_rows[row].of & 1u << programs;
}

/* Only programs that ask a policy contain a tail call, which not every architecture takes. */
static void objects_choose_programs(struct xbond_bpf *skeleton, enum programs programs)
{
	for (size_t row = 0; row < OBJECT_ROWS; row++)
		if (object_rows[row].name)
			bpf_program__set_autoload(objects_program(skeleton, row),
						  objects_is_of(row, programs));
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
	objects_choose_programs(skeleton, programs);
	objects_leave_out_exit(skeleton);
	return skeleton;
}

void objects_close(struct xbond_bpf *skeleton)
{
	xbond_bpf__destroy(skeleton);
}

static struct object objects_of_row(size_t row)
{
	return (struct object){ .pin = object_rows[row].pin,
				.program_name = object_rows[row].name,
				.added = object_rows[row].added };
}

size_t objects_expect(enum programs programs, struct object ret_objects[OBJECTS_MAX])
{
	size_t count = 0;

	_Static_assert(OBJECT_ROWS <= OBJECTS_MAX, "room for all pins");
	for (size_t row = 0; row < OBJECT_ROWS; row++)
		if (objects_is_of(row, programs))
			ret_objects[count++] = objects_of_row(row);
	return count;
}

size_t objects_list(struct xbond_bpf *skeleton, struct object ret_objects[OBJECTS_MAX])
{
	size_t count = 0;

	for (size_t row = 0; row < OBJECT_ROWS; row++) {
		struct object object = objects_of_row(row);

		if (object.program_name)
			object.program = objects_program(skeleton, row);
		else
			object.map = *(struct bpf_map *const *)((const char *)skeleton +
								object_rows[row].map);
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

/* FNV-1a */
uint64_t objects_fingerprint(void)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t size;
	const unsigned char *elf = xbond_bpf__elf_bytes(&size);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ elf[i]) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < OBJECT_ROWS; i++)
		for (const char *pin = object_rows[i].pin; *pin; pin++)
			hash = (hash ^ (unsigned char)*pin) * UINT64_C(0x100000001b3);
	return hash;
}
