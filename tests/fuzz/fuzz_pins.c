/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of a bond with any content, as a disk error, another program or another version
 * may leave them: first what pins_open() checks, then everything that reads them: show, stats,
 * explain, doctor, the weights and buckets that bondd goes on with, and the LACP state that it
 * adopts. The input says which one of these reads, and has a list of patches to the maps of a sound
 * bond.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cli/base/foretell.h"
#include "cli/doctor/doctor.h"
#include "cli/show/show.h"
#include "common/clock.h"
#include "common/pins.h"
#include "common/readings.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"
#include "rules/buckets.h"
#include "tests/fuzz/input.h"
#include "view/view_bond.h"

#define MEMBERS 3
#define FOUND_FD 1000000 /* of no file */

static struct {
	struct xbond_settings settings;
	struct xbond_table table;
	struct xbond_buckets buckets;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
	struct xbond_hold hold[XBOND_MAX_SLAVES];
	struct xbond_lacp lacp;
	struct xbond_attached attached;
	struct xbond_verdict monitors[XBOND_MAX_SLAVES];
	struct xbond_quality quality[XBOND_MAX_SLAVES];
	struct xbond_probes probes;
	struct xbond_bfd bfd;
	struct xbond_failover failover;
	struct xbond_afxdp afxdp;
	struct loop_figures loop;
} sound;
static struct input input;
static uint8_t fill; /* of what the kernel is asked for */

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value);
int __wrap_bpf_obj_get(const char *path);
int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *length);

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	/* Pins are opened for the number of a program; counters are filled for the first CPU. */
	(void)key;
	memset(value, fill, fd == FOUND_FD ? sizeof(__u32) : sizeof(struct xbond_counters));
	return 0;
}

int __wrap_bpf_obj_get(const char *path)
{
	(void)path;
	return fill & 1 ? FOUND_FD : fill & 2 ? -ENOENT : -EACCES;
}

int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *length)
{
	(void)fd;
	memset(info, fill & 4 ? fill : 0, *length);
	return fill & 8 ? -EPERM : 0;
}

static void pins_fill_lacp(struct xbond_lacp *lacp)
{
	struct lacp_system_state *system = &lacp->copy[0].system;

	system->version = LACP_STATE_VERSION;
	system->config = lacp_config_default();
	memcpy(system->config.system, "\x02\x00\x00\x00\x00\x41", LACP_MAC_SIZE);
	system->active_aggregator = 1;
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		lacp->copy[0].port[slot] = (struct lacp_port_state){
			.used = 1,
			.config = { .speed_mbps = 10000,
				    .port = (uint16_t)(slot + 1),
				    .port_priority = 255,
				    .duplex = LACP_DUPLEX_FULL,
				    .link = 1 },
			.partner = { .system = { 2, 0, 0, 0, 0, 0x42 },
				     .key = 7,
				     .port = 1,
				     .state = 0x3f },
			.actor = { .port = (uint16_t)(slot + 1), .key = 13, .state = 0x3f },
			.rx = LACP_RX_CURRENT,
			.mux = LACP_MUX_COLLECTING_DISTRIBUTING,
			.selected = LACP_SELECTED,
			.aggregator = 1,
			.told = LACP_COLLECTING | LACP_DISTRIBUTING,
		};
}

static void pins_fill(void)
{
	memset(&sound, 0, sizeof(sound));
	sound.bond.magic = XBOND_ABI_MAGIC;
	sound.bond.abi_version = XBOND_ABI_VERSION;
	sound.bond.state = XBOND_BOND_READY;
	sound.bond.mode = XBOND_MODE_8023AD;
	memcpy(sound.bond.name, "bond0", sizeof("bond0"));
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		sound.slaves[slot].state = XBOND_SLOT_MEMBER;
		sound.slaves[slot].link = XBOND_LINK_UP;
		sound.slaves[slot].speed_mbps = 10000;
		snprintf(sound.slaves[slot].name, sizeof(sound.slaves[slot].name), "eth%u", slot);
		sound.table.tx_mask |= UINT64_C(1) << slot;
		sound.table.ifindex[slot] = slot + 10;
	}
	sound.table.rx_mask = sound.table.tx_mask;
	pins_fill_lacp(&sound.lacp);
}

/* One patch: which map, where, how many bytes, and these. */
static void pins_patch(void)
{
	static const struct {
		void *memory;
		size_t size;
	} maps[] = {
		{ &sound.settings, sizeof(sound.settings) },
		{ &sound.table, sizeof(sound.table) },
		{ &sound.buckets, sizeof(sound.buckets) },
		{ &sound.bond, sizeof(sound.bond) },
		{ sound.slaves, sizeof(sound.slaves) },
		{ sound.hold, sizeof(sound.hold) },
		{ &sound.lacp, sizeof(sound.lacp) },
		{ &sound.attached, sizeof(sound.attached) },
		{ &sound.loop, sizeof(sound.loop) },
		{ sound.monitors, sizeof(sound.monitors) },
		{ sound.quality, sizeof(sound.quality) },
		{ &sound.probes, sizeof(sound.probes) },
		{ &sound.bfd, sizeof(sound.bfd) },
		{ &sound.failover, sizeof(sound.failover) },
		{ &sound.afxdp, sizeof(sound.afxdp) },
	};
	size_t map = input_u8(&input) % (sizeof(maps) / sizeof(*maps));
	size_t at = (input_u16(&input) | (size_t)input_u8(&input) << 16) % maps[map].size;
	size_t size = (input_u8(&input) & 31) + 1u;

	if (size > maps[map].size - at)
		size = maps[map].size - at;
	input_take(&input, (char *)maps[map].memory + at, size);
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
	return fill & 16 ? &sound.loop : NULL;
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

static void pins_show(const struct pins *pins)
{
	json_t *view = view_bond(pins, "bond0", true, pins_loop());
	struct seen seen = { .view = view, .forced_counted = fill & 32, .is_down = fill & 64 };
	FILE *out = pins_hush();

	text_bond(&seen);
	text_details_bond(&seen);
	stdout = out;
	json_decref(view);
}

static void pins_files(const struct pins *pins)
{
	json_t *view = view_bond(pins, "bond0", true, pins_loop());
	FILE *out = pins_hush();

	proc_print(view);
	pins_make_files(view);
	stdout = out;
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
	facts.host.loop = sound.loop;
	facts.host.loop_is_known = true;
	gather_bond(&gatherer, &facts, &bond);
	doctor_report_init(&report);
	doctor_run(&facts, &report);
	pins_check_json(doctor_report_json(&report), "what doctor finds is JSON");
	doctor_report_done(&report);
}

/* bondd goes on with the buckets as they are. */
static void pins_share_out(const struct pins *pins)
{
	uint32_t member_weight[XBOND_MAX_SLAVES], weight[XBOND_MAX_SLAVES];

	weights_of(pins, pins->table->tx_mask, member_weight, weight);
	buckets_assign(pins->buckets->bucket[0], pins->buckets->home, member_weight, weight);
	buckets_rebalance(pins->buckets->bucket[1], weight);
	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		input_check(!pins->table->tx_mask ||
				    pins->buckets->bucket[0][bucket] < XBOND_MAX_SLAVES,
			    "a bucket has a slot");
}

static void on_transmit(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
	(void)context;
	(void)frame;
	input_check(slot < LACP_MAX_PORTS && length == LACP_FRAME_SIZE, "a frame of a port");
}

static void on_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
	(void)context;
	(void)collecting;
	(void)distributing;
	input_check(slot < LACP_MAX_PORTS, "a port");
}

static void on_aggregator(void *context, unsigned int aggregator)
{
	(void)context;
	(void)aggregator;
}

static void on_drained(void *context, unsigned int slot, bool answered)
{
	(void)context;
	(void)slot;
	(void)answered;
}

static void on_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
	(void)context;
	(void)slot;
	(void)event;
	(void)detail;
}

/* As the LACP thread does it. */
static void pins_adopt(const struct pins *pins)
{
	static const struct lacp_outputs outputs = { on_transmit, on_port, on_aggregator,
						     on_drained, on_event };
	struct lacp_config config = lacp_config_default();
	struct lacp_system sys;
	struct lacp_thread_sent sent;
	uint64_t now_ns = clock_now_ns();

	lacp_init(&sys, &config, &outputs, NULL);
	if (lacp_adopt(&sys, &pins->lacp->copy[0].system, pins->lacp->copy[0].port,
		       (UINT64_C(1) << MEMBERS) - 1))
		return;
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		lacp_thread_hold_adopt(&pins->hold[slot], &sent);
		lacp_thread_hold_end(&pins->hold[slot], &sys, slot);
	}
	for (int turns = 0; turns < 4; turns++)
		now_ns = lacp_run(&sys, now_ns);
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		lacp_thread_hold_settle(&pins->hold[slot], &sys, slot, &sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pins pins = { .dir = "/sys/fs/bpf/xbond/bond0",
				    .settings = &sound.settings,
				    .table = &sound.table,
				    .buckets = &sound.buckets,
				    .bond = &sound.bond,
				    .slaves = sound.slaves,
				    .hold = sound.hold,
				    .lacp = &sound.lacp };
	static void (*const readers[])(const struct pins *pins) = {
		pins_json,    pins_show,   pins_files, pins_stats,
		pins_explain, pins_doctor, pins_adopt, pins_share_out,
	};
	const size_t count = sizeof(readers) / sizeof(*readers);
	struct err err;
	uint8_t reader;

	input = (struct input){ data, size };
	fill = input_u8(&input);
	reader = input_u8(&input);
	pins.attached = fill & 64 ? &sound.attached : NULL;
	pins.monitors = fill & 64 ? sound.monitors : NULL;
	pins.quality = fill & 64 ? sound.quality : NULL;
	pins.probes = fill & 64 ? &sound.probes : NULL;
	pins.bfd = fill & 64 ? &sound.bfd : NULL;
	pins.failover = fill & 64 ? &sound.failover : NULL;
	pins.afxdp = fill & 64 ? &sound.afxdp : NULL;
	pins_fill();
	while (input.left)
		pins_patch();
	if (pins_check(&pins, "bond0", &err))
		return 0;
	/* Sharing out takes a hundred times what the others take, so it is rare. */
	readers[reader == UINT8_MAX ? count - 1 : reader % (count - 1)](&pins);
	return 0;
}
