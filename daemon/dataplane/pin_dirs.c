/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/pin_dirs.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pins.h"

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

	(void)arg;
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

	(void)arg;
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
