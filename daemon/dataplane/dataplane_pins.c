/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the programs; the life of their pins. A bond's directory appears and disappears by one
 * rename, so a bondd that dies leaves either a complete directory or a staging directory.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xbond.skel.h"
#include "common/clock.h"
#include "common/mode.h"
#include "common/paths.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/dataplane/dataplane.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "network/link.h"

#define REPLACEMENT "new_" /* prefix of a pin that is about to replace another */

void pin_dirs_staging(char *ret_path, size_t size, const char *bpf_dir, const char *name)
{
	char staged[sizeof(PINS_STAGING) + XBOND_NAME_SIZE];

	snprintf(staged, sizeof(staged), PINS_STAGING "%s", name);
	pins_path(ret_path, size, bpf_dir, staged);
}

int pin_dirs_make(const char *dir, struct err *err)
{
	pin_dirs_remove(dir);
	return mkdir(dir, 0700) < 0 ? err_set(err, errno, "cannot make %s: %m", dir) : 0;
}

bool pin_dirs_has(const char *dir, const char *name)
{
	char path[PIN_PATH_SIZE];

	return !access(pin_path(path, dir, name), F_OK);
}

int pin_dirs_visit(const char *dir, int (*visit)(const char *dir, const char *name, void *arg),
		   void *arg)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);
	int r = 0;

	if (!stream)
		return -errno;
	while (!r && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			r = visit(dir, entry->d_name, arg);
	closedir(stream);
	return r;
}

static int pin_dirs_remove_pin(const char *dir, const char *name, void *arg)
{
	char path[PATH_MAX + NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	return 0;
}

void pin_dirs_remove(const char *dir)
{
	pin_dirs_visit(dir, pin_dirs_remove_pin, NULL);
	rmdir(dir);
}

static int pin_dirs_remove_if_staged(const char *bpf_dir, const char *name, void *arg)
{
	char path[PATH_MAX + NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", bpf_dir, name);
	if (!strncmp(name, PINS_STAGING, strlen(PINS_STAGING)))
		pin_dirs_remove(path);
	return 0;
}

void pin_dirs_remove_staging(const char *bpf_dir)
{
	pin_dirs_visit(bpf_dir, pin_dirs_remove_if_staged, NULL);
}

int pin_dirs_pin(int fd, const char *dir, const char *name, struct err *err)
{
	char path[PIN_PATH_SIZE];
	int r = bpf_obj_pin(fd, pin_path(path, dir, name));

	return r < 0 ? err_set(err, -r, "cannot pin %s: %s", path, strerror(-r)) : 0;
}

void pin_dirs_tidy(const char *dir, const char *name)
{
	char path[PIN_PATH_SIZE + sizeof(REPLACEMENT)];

	snprintf(path, sizeof(path), "%s/" REPLACEMENT "%s", dir, name);
	unlink(path);
}

int pin_dirs_replace(int fd, const char *dir, const char *name, struct err *err)
{
	char path[PIN_PATH_SIZE], made[PIN_PATH_SIZE], made_name[NAME_MAX];
	int r;

	pin_dirs_tidy(dir, name);
	snprintf(made_name, sizeof(made_name), REPLACEMENT "%s", name);
	pin_path(made, dir, made_name);
	pin_path(path, dir, name);
	r = pin_dirs_pin(fd, dir, made_name, err);
	if (!r && rename(made, path) < 0) {
		r = err_set(err, errno, "cannot rename %s to %s: %m", made, path);
		unlink(made);
	}
	return r;
}

static void dataplane_fill_table(struct xbond_table *table, const struct xbond_bond *bond)
{
	memset(table, 0, sizeof(*table));
	table->selection = mode_selection(bond);
	table->hash_seed = bond->hash_seed;
	table->flags = XBOND_F_FORCE_COUNTED;
	table->bucket_count[0] = table->bucket_count[1] = XBOND_BUCKETS;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		table->byte_cost[slot] = XBOND_BYTE_COST_ONE;
	table->netns_cookie = link_netns_cookie();
	table->heartbeat_ns = clock_now_ns();
}

enum programs dataplane_programs(const struct xbond_bond *bond,
				 const struct xbond_settings *settings, bool asks)
{
	if (asks)
		return PROGRAMS_ASK;
	return bond->team_sends || bond->xdp_tx || settings->path == XBOND_PATH_DIRECT
		       ? PROGRAMS_DIRECT
		       : PROGRAMS_PAIR;
}

static struct xbond_bpf *dataplane_load(const struct xbond_bond *bond,
					const struct xbond_settings *settings, struct err *err)
{
	enum programs programs = dataplane_programs(bond, settings, false);
	struct xbond_bpf *skeleton = objects_open(programs, err);

	if (!skeleton)
		return NULL;
	skeleton->data_settings->settings = *settings;
	dataplane_fill_table(&skeleton->data_table->table, bond);
	memset(&skeleton->data_buckets->buckets, XBOND_NO_SLOT,
	       sizeof(skeleton->data_buckets->buckets));
	if (!objects_load(skeleton, err) && !upgrade_learn(programs, skeleton, err))
		return skeleton;
	objects_close(skeleton);
	return NULL;
}

static int dataplane_pin_all(struct xbond_bpf *skeleton, const char *dir, struct err *err)
{
	struct object objects[OBJECTS_MAX];
	size_t count = objects_list(skeleton, objects);
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		r = pin_dirs_pin(objects_fd(&objects[i]), dir, objects[i].pin, err);
	return r;
}

static int dataplane_pin_staged(struct xbond_bpf *skeleton, const char *bpf_dir,
				const struct xbond_bond *bond, struct err *err)
{
	char staging[PATH_MAX], final[PATH_MAX];
	uint32_t key = 0;
	int r;

	pin_dirs_staging(staging, sizeof(staging), bpf_dir, bond->name);
	pins_path(final, sizeof(final), bpf_dir, bond->name);
	r = pin_dirs_make(staging, err);
	if (r)
		return r;
	r = bpf_map_update_elem(bpf_map__fd(skeleton->maps.bond), &key, bond, BPF_ANY);
	if (r < 0)
		err_set(err, -r, "cannot write the bond map: %s", strerror(-r));
	if (!r)
		r = dataplane_pin_all(skeleton, staging, err);
	if (!r && rename(staging, final) < 0)
		r = err_set(err, errno, "cannot rename %s to %s: %m", staging, final);
	if (r)
		pin_dirs_remove(staging);
	return r;
}

struct program {
	const char *pin;
	int *fd;
};

#define PROGRAMS 4

static void dataplane_list_programs(struct dataplane *dataplane,
				    struct program ret_programs[PROGRAMS])
{
	const struct program programs[PROGRAMS] = {
		{ XBOND_PIN_PROG_EGRESS, &dataplane->egress_fd },
		{ XBOND_PIN_PROG_PORT, &dataplane->port_fd },
		{ XBOND_PIN_PROG_RX, &dataplane->rx_fd },
		{ XBOND_PIN_PROG_BEAT, &dataplane->beat_fd },
	};

	memcpy(ret_programs, programs, sizeof(programs));
}

static void dataplane_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Without it the programs miss bondd as soon as the watchdog does. The old one is closed last: the
 * kernel may wait before it takes the first one again.
 */
static void dataplane_watch_exit(struct dataplane *dataplane)
{
	int program = pin_open(dataplane->pins.dir, XBOND_PIN_PROG_EXIT), before;

	before = dataplane->exit_fd;
	dataplane->exit_fd = -1;
	if (program >= 0) {
		dataplane->exit_fd = bpf_raw_tracepoint_open("sched_process_exit", program);
		close(program);
	}
	dataplane_close_fd(&before);
}

/* A pin that is missing is damage; anything else may be different the next time. */
static int dataplane_not_opened(const char *dir, const char *pin, int r, struct err *err)
{
	if (r == -ENOENT)
		return err_set(err, EBADMSG, "%s/%s: %s: the pins are damaged; " PINS_REMOVE, dir,
			       pin, strerror(-r), dir);
	return err_set(err, -r, "cannot open %s/%s: %s; try again", dir, pin, strerror(-r));
}

/* All or none. */
static int dataplane_open_new(const char *dir, const struct program programs[PROGRAMS],
			      int ret_fds[PROGRAMS], struct err *err)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		int r = ret_fds[i] = pin_open(dir, programs[i].pin);

		if (r >= 0)
			continue;
		for (size_t opened = 0; opened < i; opened++)
			close(ret_fds[opened]);
		return dataplane_not_opened(dir, programs[i].pin, r, err);
	}
	return 0;
}

static void dataplane_open_look(struct dataplane *dataplane)
{
	int fd = pin_open(dataplane->pins.dir, XBOND_PIN_PROG_LOOK);

	if (fd < 0 && fd != -ENOENT)
		return;
	dataplane_close_fd(&dataplane->look_fd);
	dataplane->look_fd = fd;
}

int dataplane_open_programs(struct dataplane *dataplane, struct err *err)
{
	struct program programs[PROGRAMS];
	const char *dir = dataplane->pins.dir;
	int fds[PROGRAMS], r;

	dataplane_list_programs(dataplane, programs);
	r = dataplane_open_new(dir, programs, fds, err);
	if (r)
		return r;
	for (size_t i = 0; i < PROGRAMS; i++) {
		dataplane_close_fd(programs[i].fd);
		*programs[i].fd = fds[i];
	}
	dataplane_open_look(dataplane);
	dataplane_watch_exit(dataplane);
	if (dataplane->devices_fd < 0)
		dataplane->devices_fd = pin_open(dir, XBOND_PIN_DEVICES);
	if (dataplane->xdp_slaves_fd < 0)
		dataplane->xdp_slaves_fd = pin_open(dir, XBOND_PIN_XDP_SLAVES);
	return 0;
}

void dataplane_clear(struct dataplane *ret_dataplane)
{
	*ret_dataplane = (struct dataplane){ .pins = { PINS_NO_FILES },
					     .egress_fd = -1,
					     .port_fd = -1,
					     .rx_fd = -1,
					     .beat_fd = -1,
					     .look_fd = -1,
					     .exit_fd = -1,
					     .devices_fd = -1,
					     .xdp_slaves_fd = -1 };
}

int dataplane_open_maps(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name,
			struct err *err)
{
	dataplane_clear(ret_dataplane);
	return pins_open(&ret_dataplane->pins, bpf_dir, name, err);
}

static int dataplane_open(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name,
			  struct err *err)
{
	int r = dataplane_open_maps(ret_dataplane, bpf_dir, name, err);

	if (!r)
		r = dataplane_open_programs(ret_dataplane, err);
	if (r)
		dataplane_close(ret_dataplane);
	return r;
}

/* Returns 0 or -errno. The path of ret_staged has room for PATH_MAX characters. */
static int dataplane_withdraw_dir(const char *bpf_dir, const char *dir, char *ret_staged)
{
	pin_dirs_staging(ret_staged, PATH_MAX, bpf_dir, paths_base(dir));
	pin_dirs_remove(ret_staged);
	return rename(dir, ret_staged) < 0 ? -errno : 0;
}

static void dataplane_unpin(const char *bpf_dir, const char *name)
{
	char staged[PATH_MAX], dir[PATH_MAX];

	pins_path(dir, sizeof(dir), bpf_dir, name);
	pin_dirs_remove(dataplane_withdraw_dir(bpf_dir, dir, staged) ? dir : staged);
}

int dataplane_create(struct dataplane *ret_dataplane, const char *bpf_dir,
		     const struct xbond_bond *bond, const struct xbond_settings *settings,
		     struct err *err)
{
	struct xbond_bpf *skeleton = dataplane_load(bond, settings, err);
	int r;

	if (!skeleton)
		return -ENOEXEC;
	r = dataplane_pin_staged(skeleton, bpf_dir, bond, err);
	objects_close(skeleton);
	if (r)
		return r;
	crashpoint("create-pinned");
	r = dataplane_open(ret_dataplane, bpf_dir, bond->name, err);
	if (r)
		dataplane_unpin(bpf_dir, bond->name);
	else
		ret_dataplane->programs = dataplane_programs(bond, settings, false);
	return r;
}

void dataplane_close(struct dataplane *dataplane)
{
	struct program programs[PROGRAMS];

	dataplane_list_programs(dataplane, programs);
	for (size_t i = 0; i < PROGRAMS; i++)
		dataplane_close_fd(programs[i].fd);
	dataplane_close_fd(&dataplane->look_fd);
	dataplane_close_fd(&dataplane->exit_fd);
	dataplane_close_fd(&dataplane->devices_fd);
	dataplane_close_fd(&dataplane->xdp_slaves_fd);
	pins_close(&dataplane->pins);
}

int dataplane_rename(struct dataplane *dataplane, const char *bpf_dir, const char *name,
		     struct err *err)
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

	if (paths_rename(a->pins.dir, b->pins.dir, true) < 0)
		return err_set(err, errno, "cannot exchange %s and %s: %m", a->pins.dir,
			       b->pins.dir);
	memcpy(dir, a->pins.dir, sizeof(dir));
	memcpy(a->pins.dir, b->pins.dir, sizeof(dir));
	memcpy(b->pins.dir, dir, sizeof(dir));
	return 0;
}

int dataplane_withdraw(struct dataplane *dataplane, const char *bpf_dir)
{
	char staged[PATH_MAX];
	int r;

	dataplane->pins.table->select_abi = 0;
	r = dataplane_withdraw_dir(bpf_dir, dataplane->pins.dir, staged);
	if (!r)
		snprintf(dataplane->pins.dir, sizeof(dataplane->pins.dir), "%s", staged);
	return r == -ENOENT ? 0 : r;
}

void dataplane_remove(struct dataplane *dataplane)
{
	char dir[sizeof(dataplane->pins.dir)];

	memcpy(dir, dataplane->pins.dir, sizeof(dir));
	dataplane_close(dataplane);
	pin_dirs_remove(dir);
}
