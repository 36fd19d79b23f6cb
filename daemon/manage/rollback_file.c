/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/rollback.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "options/names.h"

#define SUFFIX ".rollback"

static void rollback_file_name(char ret_name[NAME_MAX], const char *bond)
{
	snprintf(ret_name, NAME_MAX, "%s" SUFFIX, bond);
}

int rollback_file_write(const struct paths *paths, const char *bond,
			const struct rollback_record *record)
{
	char name[NAME_MAX];

	rollback_file_name(name, bond);
	return run_file_write(paths, name,
			      json_pack("{s:I, s:I, s:O}", "at_us", (json_int_t)record->at_us,
					"apply", (json_int_t)record->apply, "snapshot",
					record->snapshot));
}

void rollback_file_remove(const struct paths *paths, const char *bond)
{
	char name[NAME_MAX];

	rollback_file_name(name, bond);
	run_file_remove(paths, name);
}

static void rollback_file_read(const struct paths *paths, const char *bond,
			       rollback_file_visitor visit, void *arg)
{
	struct rollback_record record;
	bool is_of_this_boot;
	char name[NAME_MAX];
	json_int_t at_us;
	struct err err;
	json_t *json;

	if (name_check("bond", bond, &err))
		return;
	rollback_file_name(name, bond);
	json = run_file_read(paths, name, &is_of_this_boot);
	record.snapshot = json_object_get(json, "snapshot");
	at_us = json_integer_value(json_object_get(json, "at_us"));
	if (!json_is_object(record.snapshot) || at_us <= 0) {
		log_error("%s/%s: cannot be read, so %s stays as it is", paths->run_dir, name,
			  bond);
		run_file_remove(paths, name);
		json_decref(json);
		return;
	}
	json_incref(record.snapshot);
	record.at_us = is_of_this_boot ? (uint64_t)at_us : 1;
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
