/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/run_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 64

static void run_file_boot_id(char ret_text[BOOT_ID_SIZE])
{
	FILE *file = fopen(BOOT_ID, "re");

	ret_text[0] = '\0';
	if (!file)
		return;
	if (!fgets(ret_text, BOOT_ID_SIZE, file))
		ret_text[0] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	fclose(file);
}

static int run_file_path(char ret_path[PATH_MAX], const struct paths *paths, const char *name,
			 const char *more)
{
	int length = snprintf(ret_path, PATH_MAX, "%s/%s%s", paths->run_dir, name, more);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int run_file_put(const char *path, const json_t *json)
{
	FILE *file = fopen(path, "we");
	int r = 0;

	if (!file)
		return -errno;
	if (json_dumpf(json, file, JSON_COMPACT) || fflush(file) || ferror(file) ||
	    fsync(fileno(file)))
		r = errno ? -errno : -EIO;
	if (fclose(file) && !r)
		r = -errno;
	return r;
}

static int run_file_replace(const struct paths *paths, const char *name, const json_t *json)
{
	char path[PATH_MAX], unfinished[PATH_MAX];
	int r = run_file_path(path, paths, name, "");

	if (!r)
		r = run_file_path(unfinished, paths, name, ".new");
	if (r)
		return r;
	r = run_file_put(unfinished, json);
	if (!r && rename(unfinished, path))
		r = -errno;
	if (r)
		unlink(unfinished);
	return r;
}

int run_file_write(const struct paths *paths, const char *name, json_t *json)
{
	char boot_id[BOOT_ID_SIZE];
	int r;

	run_file_boot_id(boot_id);
	json_object_set_new(json, "boot_id", json_string(boot_id));
	r = run_file_replace(paths, name, json);
	json_decref(json);
	return r;
}

json_t *run_file_read(const struct paths *paths, const char *name, bool *ret_is_of_this_boot)
{
	char path[PATH_MAX], ours[BOOT_ID_SIZE];
	const char *theirs;
	json_t *json;

	if (run_file_path(path, paths, name, ""))
		return NULL;
	json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	theirs = json_string_value(json_object_get(json, "boot_id"));
	run_file_boot_id(ours);
	*ret_is_of_this_boot = theirs && !strcmp(theirs, ours);
	return json;
}

void run_file_remove(const struct paths *paths, const char *name)
{
	char path[PATH_MAX];

	if (!run_file_path(path, paths, name, ""))
		unlink(path);
}
