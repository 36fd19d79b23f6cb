/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/policy/policy_pin.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/pins.h"

/* The entry of a map of programs; program_fd -1: none. */
static int policy_pin_program(const char *dir, const char *pin, int program_fd, struct err *err)
{
	int fd = pin_open(dir, pin), r;
	uint32_t key = 0;

	if (fd < 0)
		return err_set(err, -fd, "cannot open %s/%s: %s", dir, pin, strerror(-fd));
	r = program_fd < 0 ? bpf_map_delete_elem(fd, &key)
			   : bpf_map_update_elem(fd, &key, &program_fd, BPF_ANY);
	close(fd);
	if (!r || (program_fd < 0 && r == -ENOENT))
		return 0;
	return err_set(err, -r, "cannot write %s/%s: %s", dir, pin, strerror(-r));
}

static void policy_pin_visit(const char *dir, const char *prefix,
			     void (*visit)(const char *map, const char *pin, void *arg), void *arg)
{
	size_t length = strlen(prefix);
	struct dirent *entry;
	DIR *stream = opendir(dir);

	if (!stream)
		return;
	while ((entry = readdir(stream))) {
		char pin[PIN_PATH_SIZE];

		if (!strncmp(entry->d_name, prefix, length))
			visit(entry->d_name + length, pin_path(pin, dir, entry->d_name), arg);
	}
	closedir(stream);
}

void policy_pin_visit_maps(const char *dir,
			   void (*visit)(const char *map, const char *pin, void *arg), void *arg)
{
	policy_pin_visit(dir, XBOND_PIN_POLICY_MAPS, visit, arg);
}

static void policy_pin_remove(const char *map, const char *pin, void *arg)
{
	(void)map;
	(void)arg;
	unlink(pin);
}

static void policy_pin_put_in_place(const char *map, const char *pin, void *arg)
{
	char path[PIN_PATH_SIZE + 32];

	snprintf(path, sizeof(path), "%s/" XBOND_PIN_POLICY_MAPS "%s", (const char *)arg, map);
	rename(pin, path);
}

static int policy_pin_stage_maps(const struct policy_file *file, const char *dir, struct err *err)
{
	char path[PIN_PATH_SIZE + 32];
	int r = 0;

	policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);
	for (unsigned int i = 0; !r && i < file->map_count; i++) {
		snprintf(path, sizeof(path), "%s/" POLICY_MAPS_STAGED "%s", dir,
			 bpf_map__name(file->maps[i]));
		r = bpf_obj_pin(bpf_map__fd(file->maps[i]), path);
	}
	return r ? err_set(err, -r, "cannot pin %s: %s", path, strerror(-r)) : 0;
}

/* The program that is there now, to put it back; -1: none. The caller closes it. */
static int policy_pin_current(const char *dir, const char *pin)
{
	uint32_t key = 0, id = 0;
	int fd = pin_open(dir, pin);

	if (fd < 0)
		return -1;
	if (bpf_map_lookup_elem(fd, &key, &id))
		id = 0;
	close(fd);
	return id ? bpf_prog_get_fd_by_id(id) : -1;
}

static int policy_pin_programs(const struct policy_file *file, const char *dir, struct err *err)
{
	int before = policy_pin_current(dir, XBOND_PIN_POLICY_XDP), r;
	struct err ignored;

	r = policy_pin_program(dir, XBOND_PIN_POLICY_XDP, bpf_program__fd(file->xdp), err);
	if (!r) {
		r = policy_pin_program(dir, XBOND_PIN_POLICY, bpf_program__fd(file->tc), err);
		if (r)
			policy_pin_program(dir, XBOND_PIN_POLICY_XDP, before, &ignored);
	}
	if (before >= 0)
		close(before);
	return r;
}

/* Returns 0 if it is none. */
static uint32_t policy_pin_map_id(int map_fd)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);

	return bpf_obj_get_info_by_fd(map_fd, &info, &length) ? 0 : info.id;
}

/*
 * To load a policy takes its time. If the bond was made anew meanwhile, the policy would read the
 * question of the old one.
 */
static int policy_pin_check_bond(const struct policy_file *file, const char *dir, struct err *err)
{
	int fd = pin_open(dir, XBOND_PIN_POLICY_QUESTION);
	uint32_t now = fd < 0 ? 0 : policy_pin_map_id(fd);

	if (fd >= 0)
		close(fd);
	if (now && now == policy_pin_map_id(bpf_map__fd(file->question)))
		return 0;
	return err_set(err, ESTALE,
		       "the bond was deleted, renamed or made anew while the policy was being "
		       "loaded; load it again");
}

int policy_pin(const struct policy_file *file, const char *dir, struct err *err)
{
	int r = policy_pin_check_bond(file, dir, err);

	if (!r)
		r = policy_pin_stage_maps(file, dir, err);
	if (!r)
		r = policy_pin_programs(file, dir, err);
	if (r) {
		policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);
		return r;
	}
	policy_pin_visit(dir, XBOND_PIN_POLICY_MAPS, policy_pin_remove, NULL);
	policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_put_in_place, (void *)(uintptr_t)dir);
	return 0;
}

int policy_unpin(const char *dir, struct err *err)
{
	/* That of XDP first: as long as the other is there, the policy is one that can be removed.
	 */
	int r = policy_pin_program(dir, XBOND_PIN_POLICY_XDP, -1, err);

	if (!r)
		r = policy_pin_program(dir, XBOND_PIN_POLICY, -1, err);
	if (r)
		return r;
	policy_pin_visit(dir, XBOND_PIN_POLICY_MAPS, policy_pin_remove, NULL);
	policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);
	return 0;
}
