/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading the programs and the life of their pins. A bond's directory appears and goes in
 * one rename, so that a bondd that dies leaves either a whole one or a staging directory.
 */
#include "daemon/dataplane.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/xbond.skel.h"
#include "common/clock.h"
#include "daemon/crashpoint.h"
#include "daemon/idle.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define LOG_LINES 3
#define LOG_LINE_SIZE 160

/* The last lines that libbpf printed while it loaded: the verifier's verdict. */
static struct {
	char line[LOG_LINES][LOG_LINE_SIZE];
	unsigned int next;
} verdict;

static void keep_line(const char *line, size_t length)
{
	if (length == 0 || !strncmp(line, "-- ", 3) || !strncmp(line, "processed ", 10) ||
	    !strncmp(line, "libbpf: ", 8))
		return;
	snprintf(verdict.line[verdict.next++ % LOG_LINES], LOG_LINE_SIZE, "%.*s", (int)length, line);
}

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[1 << 16];
	char *at = text;

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	while (*at) {
		size_t length = strcspn(at, "\n");

		keep_line(at, length);
		at += length + (at[length] == '\n');
	}
	return 0;
}

void dataplane_init(void)
{
	libbpf_set_print(keep_log);
}

static int refused(int r, struct err *err)
{
	char last[LOG_LINES * (LOG_LINE_SIZE + 4)] = "";

	for (unsigned int i = 0; i < LOG_LINES; i++) {
		const char *line = verdict.line[(verdict.next + i) % LOG_LINES];

		if (*line)
			snprintf(last + strlen(last), sizeof(last) - strlen(last), "%s%s", *last ? " | " : "",
				 line);
	}
	return err_set(err, -r, "the kernel refused the BPF program: %s%s%s%s", strerror(-r),
		       *last ? " (" : "", last, *last ? ")" : "");
}

uint64_t dataplane_netns_cookie(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) < 0)
		cookie = 0;
	close(fd);
	return cookie;
}

static void fill_table(struct xbond_table *table, const struct xbond_bond *bond)
{
	memset(table, 0, sizeof(*table));
	table->mode = bond->mode;
	table->hash_seed = bond->hash_seed;
	table->flags = XBOND_F_FORCE_COUNTED;
	table->bucket_count[0] = table->bucket_count[1] = XBOND_BUCKETS;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		table->byte_cost[slot] = XBOND_BYTE_COST_ONE;
	table->netns_cookie = dataplane_netns_cookie();
	table->heartbeat_ns = clock_now_ns();
}

struct dataplane_loading {
	struct xbond_bpf *skeleton;
	int result;
};

static void dataplane_load(void *arg)
{
	struct dataplane_loading *loading = arg;

	loading->result = xbond_bpf__load(loading->skeleton);
}

/* The verifier takes some 100 ms, in which other bonds are not left alone. */
static struct xbond_bpf *load(const struct xbond_bond *bond, const struct xbond_settings *settings,
			      struct err *err)
{
	struct dataplane_loading loading;
	struct xbond_bpf *skeleton;

	memset(&verdict, 0, sizeof(verdict));
	skeleton = xbond_bpf__open();
	if (!skeleton) {
		refused(-errno, err);
		return NULL;
	}
	skeleton->data_settings->settings = *settings;
	fill_table(&skeleton->data_table->table, bond);
	memset(&skeleton->data_buckets->buckets, XBOND_NO_SLOT, sizeof(skeleton->data_buckets->buckets));
	loading = (struct dataplane_loading){ .skeleton = skeleton };
	idle_run(dataplane_load, &loading);
	if (loading.result < 0) {
		refused(loading.result, err);
		xbond_bpf__destroy(skeleton);
		return NULL;
	}
	return skeleton;
}

static int pin_one(int fd, const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX + 32];
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = bpf_obj_pin(fd, path);
	return r < 0 ? err_set(err, -r, "cannot pin %s: %s", path, strerror(-r)) : 0;
}

static int pin_all(struct xbond_bpf *skeleton, const char *dir, struct err *err)
{
	const struct {
		const char *name;
		int fd;
	} pins[] = {
		{ XBOND_PIN_SETTINGS, bpf_map__fd(skeleton->maps.data_settings) },
		{ XBOND_PIN_TABLE, bpf_map__fd(skeleton->maps.data_table) },
		{ XBOND_PIN_BUCKETS, bpf_map__fd(skeleton->maps.data_buckets) },
		{ XBOND_PIN_BOND, bpf_map__fd(skeleton->maps.bond) },
		{ XBOND_PIN_SLAVES, bpf_map__fd(skeleton->maps.slaves) },
		{ XBOND_PIN_COUNTERS, bpf_map__fd(skeleton->maps.counters) },
		{ XBOND_PIN_HOLD, bpf_map__fd(skeleton->maps.data_hold) },
		{ XBOND_PIN_HOLD_TIMERS, bpf_map__fd(skeleton->maps.hold_timers) },
		{ XBOND_PIN_WATCHDOG, bpf_map__fd(skeleton->maps.watchdog) },
		{ XBOND_PIN_PDUS, bpf_map__fd(skeleton->maps.pdus) },
		{ XBOND_PIN_LACP, bpf_map__fd(skeleton->maps.lacp) },
		{ XBOND_PIN_CURSOR, bpf_map__fd(skeleton->maps.data_cursor) },
		{ XBOND_PIN_PROG_EGRESS, bpf_program__fd(skeleton->progs.xbond_egress) },
		{ XBOND_PIN_PROG_PORT, bpf_program__fd(skeleton->progs.xbond_port) },
		{ XBOND_PIN_PROG_RX, bpf_program__fd(skeleton->progs.xbond_rx) },
		{ XBOND_PIN_PROG_RX_MIRRED, bpf_program__fd(skeleton->progs.xbond_rx_mirred) },
		{ XBOND_PIN_PROG_BEAT, bpf_program__fd(skeleton->progs.xbond_beat) },
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(pins) / sizeof(pins[0]); i++)
		r = pin_one(pins[i].fd, dir, pins[i].name, err);
	return r;
}

static void remove_dir(const char *dir)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *entry;
	DIR *stream = opendir(dir);

	while (stream && (entry = readdir(stream))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlink(path);
	}
	if (stream)
		closedir(stream);
	rmdir(dir);
}

static void staging_path(char *ret_path, size_t size, const char *bpf_dir, const char *name)
{
	char staged[sizeof(PINS_STAGING) + XBOND_NAME_SIZE];

	snprintf(staged, sizeof(staged), PINS_STAGING "%s", name);
	pins_path(ret_path, size, bpf_dir, staged);
}

static int pin_staged(struct xbond_bpf *skeleton, const char *bpf_dir, const struct xbond_bond *bond,
		      struct err *err)
{
	char staging[PATH_MAX], final[PATH_MAX];
	uint32_t key = 0;
	int r;

	staging_path(staging, sizeof(staging), bpf_dir, bond->name);
	pins_path(final, sizeof(final), bpf_dir, bond->name);
	remove_dir(staging);
	if (mkdir(staging, 0700) < 0)
		return err_set(err, errno, "cannot make %s: %m", staging);
	r = bpf_map_update_elem(bpf_map__fd(skeleton->maps.bond), &key, bond, BPF_ANY);
	if (r < 0)
		err_set(err, -r, "cannot write the bond map: %s", strerror(-r));
	if (!r)
		r = pin_all(skeleton, staging, err);
	if (!r && rename(staging, final) < 0)
		r = err_set(err, errno, "cannot rename %s to %s: %m", staging, final);
	if (r)
		remove_dir(staging);
	return r;
}

int dataplane_create(struct dataplane *ret_dataplane, const char *bpf_dir, const struct xbond_bond *bond,
		     const struct xbond_settings *settings, struct err *err)
{
	struct xbond_bpf *skeleton = load(bond, settings, err);
	int r;

	if (!skeleton)
		return -ENOEXEC;
	r = pin_staged(skeleton, bpf_dir, bond, err);
	xbond_bpf__destroy(skeleton);
	if (r)
		return r;
	crashpoint("create-pinned");
	return dataplane_open(ret_dataplane, bpf_dir, bond->name, err);
}

static int open_program(const struct dataplane *dataplane, const char *pin, int *ret_fd, struct err *err)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", dataplane->pins.dir, pin);
	*ret_fd = bpf_obj_get(path);
	if (*ret_fd < 0)
		return err_set(err, EBADMSG, "%s: %s: the pins are damaged; " PINS_REMOVE, path,
			       strerror(-*ret_fd), dataplane->pins.dir);
	return 0;
}

int dataplane_open(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name, struct err *err)
{
	struct dataplane dataplane = {
		.egress_fd = -1, .port_fd = -1, .rx_fd = -1, .rx_mirred_fd = -1, .beat_fd = -1
	};
	int r;

	r = pins_open(&dataplane.pins, bpf_dir, name, err);
	if (r)
		return r;
	r = open_program(&dataplane, XBOND_PIN_PROG_EGRESS, &dataplane.egress_fd, err);
	if (!r)
		r = open_program(&dataplane, XBOND_PIN_PROG_PORT, &dataplane.port_fd, err);
	if (!r)
		r = open_program(&dataplane, XBOND_PIN_PROG_RX, &dataplane.rx_fd, err);
	if (!r)
		r = open_program(&dataplane, XBOND_PIN_PROG_RX_MIRRED, &dataplane.rx_mirred_fd, err);
	if (!r)
		r = open_program(&dataplane, XBOND_PIN_PROG_BEAT, &dataplane.beat_fd, err);
	if (r)
		dataplane_close(&dataplane);
	else
		*ret_dataplane = dataplane;
	return r;
}

void dataplane_close(struct dataplane *dataplane)
{
	int *fds[] = { &dataplane->egress_fd, &dataplane->port_fd, &dataplane->rx_fd,
		       &dataplane->rx_mirred_fd, &dataplane->beat_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	pins_close(&dataplane->pins);
}

int dataplane_rename(struct dataplane *dataplane, const char *bpf_dir, const char *name, struct err *err)
{
	char path[PATH_MAX];

	pins_path(path, sizeof(path), bpf_dir, name);
	if (rename(dataplane->pins.dir, path) < 0)
		return err_set(err, errno, "cannot rename %s to %s: %m", dataplane->pins.dir, path);
	snprintf(dataplane->pins.dir, sizeof(dataplane->pins.dir), "%s", path);
	return 0;
}

int dataplane_swap(struct dataplane *a, struct dataplane *b, struct err *err)
{
	char dir[PATH_MAX];

	if (renameat2(AT_FDCWD, a->pins.dir, AT_FDCWD, b->pins.dir, RENAME_EXCHANGE) < 0)
		return err_set(err, errno, "cannot exchange %s and %s: %m", a->pins.dir, b->pins.dir);
	memcpy(dir, a->pins.dir, sizeof(dir));
	memcpy(a->pins.dir, b->pins.dir, sizeof(dir));
	memcpy(b->pins.dir, dir, sizeof(dir));
	return 0;
}

void dataplane_remove(struct dataplane *dataplane, const char *bpf_dir)
{
	char staging[PATH_MAX], dir[PATH_MAX];

	memcpy(dir, dataplane->pins.dir, sizeof(dir));
	staging_path(staging, sizeof(staging), bpf_dir, dataplane->pins.bond->name);
	dataplane_close(dataplane);
	remove_dir(staging);
	if (rename(dir, staging) == 0)
		remove_dir(staging);
}

void dataplane_remove_staging(const char *bpf_dir)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *entry;
	DIR *stream = opendir(bpf_dir);

	while (stream && (entry = readdir(stream))) {
		snprintf(path, sizeof(path), "%s/%s", bpf_dir, entry->d_name);
		if (!strncmp(entry->d_name, PINS_STAGING, strlen(PINS_STAGING)))
			remove_dir(path);
	}
	if (stream)
		closedir(stream);
}
