/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of a bond with any content to what bondctl makes of them: show, stats, explain,
 * doctor and the files of sysfs. The input says which one of these reads.
 */
#include <bpf/bpf.h>
#include <jansson.h>

#include "cli/base/foretell.h"
#include "cli/doctor/doctor.h"
#include "cli/show/show.h"
#include "common/clock.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/cpus.h"
#include "tests/fuzz/pins_world.h"
#include "view/view_bond.h"

#define FOUND_FD 1000000 /* of no file */

static uint8_t fill; /* of what the kernel is asked for */

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	/* Pins are opened for the number of a program; counters are filled for the first CPU. */
	memset(value, fill, fd == FOUND_FD ? sizeof(__u32) : sizeof(struct xbond_counters));
	return 0;
}

int __wrap_bpf_obj_get(const char *path)
{
	return fill & 1 ? FOUND_FD : fill & 2 ? -ENOENT : -EACCES;
}

int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *length)
{
	memset(info, fill & 4 ? fill : 0, *length);
	return fill & 8 ? -EPERM : 0;
}

static void pins_make_slave_files(const json_t *view, const json_t *slave)
{
	char value[SYSFS_VALUE_SIZE];

	for (unsigned int i = 0; sysfs_slave_value(view, slave, i, value); i++)
		input_check(value[0], "a value of the slave");
	for (unsigned int i = 0; sysfs_device_value(view, slave, i, value); i++)
		input_check(value[0], "a value of the slave's device");
}

static void pins_make_files(const json_t *view)
{
	char value[SYSFS_VALUE_SIZE];
	const json_t *slave;
	size_t at;

	for (unsigned int i = 0; sysfs_bond_value(view, i, value); i++)
		input_check(strlen(value) < sizeof(value), "a value of the bond");
	json_array_foreach (json_object_get(view, "slaves"), at, slave)
		pins_make_slave_files(view, slave);
	for (unsigned int i = 0; sysfs_device_value(view, NULL, i, value); i++)
		input_check(value[0], "a value of the bond's device");
}

/* What is printed goes nowhere. */
static FILE *pins_hush(void)
{
	static FILE *nowhere;
	FILE *out = stdout;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	stdout = nowhere;
	return out;
}

static const struct loop_figures *pins_loop(void)
{
	return fill & 16 ? &found.loop : NULL;
}

static void pins_check_json(json_t *json, const char *what)
{
	char *text = json_dumps(json, JSON_COMPACT);

	input_check(json && text, what);
	free(text);
	json_decref(json);
}

static void pins_json(const struct pins *pins)
{
	pins_check_json(view_bond(pins, "bond0", true, pins_loop()), "a view is JSON");
}

static void pins_print(const struct pins *pins, void (*print)(const struct seen *seen))
{
	json_t *view = view_bond(pins, "bond0", true, pins_loop());
	struct seen seen = { .view = view, .forced_counted = fill & 32, .is_down = fill & 64 };
	FILE *out = pins_hush();

	print(&seen);
	stdout = out;
	json_decref(view);
}

static void pins_show(const struct pins *pins)
{
	pins_print(pins, text_bond);
}

static void pins_details(const struct pins *pins)
{
	pins_print(pins, text_details_bond);
}

static void pins_print_proc(const struct seen *seen)
{
	proc_print(seen->view);
}

static void pins_proc(const struct pins *pins)
{
	pins_print(pins, pins_print_proc);
}

static void pins_files(const struct pins *pins)
{
	json_t *view = view_bond(pins, "bond0", true, pins_loop());

	pins_make_files(view);
	json_decref(view);
}

static void pins_stats(const struct pins *pins)
{
	json_t *stats = view_stats(pins, "bond0", pins_loop());
	FILE *out = pins_hush();

	text_stats(stats);
	stdout = out;
	pins_check_json(stats, "the counters are JSON");
}

static void pins_explain(const struct pins *pins)
{
	struct forecast forecast = foretell(pins, input_u32(&input) * UINT64_C(0x9e3779b97f4a7c15));

	input_check(forecast.slot < XBOND_MAX_SLAVES || forecast.slot == XBOND_NO_SLOT, "a slot");
	input_check(forecast.settled < XBOND_MAX_SLAVES || forecast.settled == XBOND_NO_SLOT,
		    "a slot afterwards");
	forecast = foretell_active(pins);
	input_check(forecast.slot < XBOND_MAX_SLAVES || forecast.slot == XBOND_NO_SLOT,
		    "an active slot");
}

static void pins_doctor(const struct pins *pins)
{
	static struct doctor_bond bond;
	struct gatherer gatherer = { .ethtool = { .fd = -1 } };
	struct doctor_facts facts = { .bond = &bond, .bond_count = 1 };
	struct doctor_report report;

	bond = (struct doctor_bond){ .name = "bond0", .is_open = true, .pins = *pins };
	facts.host = (struct doctor_host){ .bondd_answers = fill & 16, .now_ns = clock_now_ns() };
	facts.host.paths.config_dir = "/nonexistent";
	facts.host.loop = found.loop;
	facts.host.loop_is_known = true;
	gather_bond(&gatherer, &facts, &bond);
	doctor_report_init(&report);
	doctor_run(&facts, &report);
	pins_check_json(doctor_report_json(&report), "what doctor finds is JSON");
	doctor_report_done(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const struct pins *pins) = {
		pins_json,    pins_show,   pins_files,	 pins_stats,
		pins_explain, pins_doctor, pins_details, pins_proc,
	};
	static const struct patch maps[] = {
		PINS_MAP(settings), PINS_MAP(table),	PINS_MAP(buckets), PINS_MAP(bond),
		PINS_MAP(slaves),   PINS_MAP(hold),	PINS_MAP(lacp),	   PINS_MAP(attached),
		PINS_MAP(loop),	    PINS_MAP(monitors), PINS_MAP(quality), PINS_MAP(probes),
		PINS_MAP(bfd),	    PINS_MAP(failover), PINS_MAP(afxdp),
	};
	uint8_t reader;

	arena_start();
	pins_start(data, size);
	fill = input_u8(&input);
	reader = input_u8(&input) % (sizeof(readers) / sizeof(*readers));
	pinned.attached = fill & 64 ? &found.attached : NULL;
	pinned.monitors = fill & 64 ? found.monitors : NULL;
	pinned.quality = fill & 64 ? found.quality : NULL;
	pinned.probes = fill & 64 ? &found.probes : NULL;
	pinned.bfd = fill & 64 ? &found.bfd : NULL;
	pinned.failover = fill & 64 ? &found.failover : NULL;
	pinned.afxdp = fill & 64 ? &found.afxdp : NULL;
	pins_let_read(readers[reader], maps, sizeof(maps) / sizeof(*maps));
	arena_end();
	return 0;
}
