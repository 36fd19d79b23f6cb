/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/rollback_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "options/names.h"

#define SUFFIX ".rollback"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 64

uint64_t rollback_file_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void rollback_file_boot_id(char ret_text[BOOT_ID_SIZE])
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

static int rollback_file_path(char ret_path[PATH_MAX], const struct paths *paths, const char *bond,
			      const char *more)
{
	int length = snprintf(ret_path, PATH_MAX, "%s/%s" SUFFIX "%s", paths->run_dir, bond, more);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int rollback_file_put(const char *path, const json_t *json)
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

int rollback_file_write(const struct paths *paths, const char *bond,
			const struct rollback_record *record)
{
	char path[PATH_MAX], unfinished[PATH_MAX], boot_id[BOOT_ID_SIZE];
	int r = rollback_file_path(path, paths, bond, "");
	json_t *json;

	if (!r)
		r = rollback_file_path(unfinished, paths, bond, ".new");
	if (r)
		return r;
	rollback_file_boot_id(boot_id);
	json = json_pack("{s:s, s:I, s:I, s:O}", "boot_id", boot_id, "at_us",
			 (json_int_t)record->at_us, "apply", (json_int_t)record->apply, "snapshot",
			 record->snapshot);
	if (!json)
		return -ENOMEM;
	r = rollback_file_put(unfinished, json);
	json_decref(json);
	if (!r && rename(unfinished, path))
		r = -errno;
	if (r)
		unlink(unfinished);
	return r;
}

void rollback_file_remove(const struct paths *paths, const char *bond)
{
	char path[PATH_MAX];

	if (!rollback_file_path(path, paths, bond, ""))
		unlink(path);
}

static bool rollback_file_is_of_this_boot(const json_t *json)
{
	const char *theirs = json_string_value(json_object_get(json, "boot_id"));
	char ours[BOOT_ID_SIZE];

	rollback_file_boot_id(ours);
	return theirs && !strcmp(theirs, ours);
}

static void rollback_file_read(const struct paths *paths, const char *bond,
			       rollback_file_visitor visit, void *arg)
{
	struct rollback_record record;
	json_error_t where;
	char path[PATH_MAX];
	json_int_t at_us;
	struct err err;
	json_t *json;

	if (name_check("bond", bond, &err) || rollback_file_path(path, paths, bond, ""))
		return;
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	record.snapshot = json_object_get(json, "snapshot");
	at_us = json_integer_value(json_object_get(json, "at_us"));
	if (!json_is_object(record.snapshot) || at_us <= 0) {
		log_error("%s: cannot be read, so %s stays as it is", path, bond);
		unlink(path);
		json_decref(json);
		return;
	}
	json_incref(record.snapshot);
	record.at_us = rollback_file_is_of_this_boot(json) ? (uint64_t)at_us : 1;
	record.apply = (uint64_t)json_integer_value(json_object_get(json, "apply"));
	if (!record.apply) /* an older bondd wrote it */
		record.apply = (uint64_t)at_us / 1000000;
	json_decref(json);
	visit(bond, &record, arg);
}

static int rollback_file_is_one(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) && !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

void rollback_file_visit(const struct paths *paths, rollback_file_visitor visit, void *arg)
{
	struct dirent **entries;
	int count = scandir(paths->run_dir, &entries, rollback_file_is_one, alphasort);

	if (count < 0)
		return;
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;

		name[strlen(name) - strlen(SUFFIX)] = '\0';
		rollback_file_read(paths, name, visit, arg);
		free(entries[i]);
	}
	free(entries);
}
