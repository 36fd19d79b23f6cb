/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/paths.h"
#include "options/config_file.h"

int config_dir_path(char *ret_path, size_t size, const char *config_dir, const char *bond)
{
	int length = snprintf(ret_path, size, "%s/%s" PATHS_CONFIG_SUFFIX, config_dir, bond);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int config_dir_bonds(const char *config_dir, char ***ret_names, struct err *err)
{
	struct dirent **entries = NULL;
	int count =
		scandir(config_dir, &entries, config_file_is_entry, config_file_compare_entries);
	char **names;

	if (count < 0 && errno != ENOENT)
		return err_set(err, errno, "%s: %m", config_dir);
	if (count < 0)
		count = 0;
	names = memory_need(calloc((size_t)count + 1, sizeof(*names)));
	for (int i = 0; i < count; i++) {
		names[i] = memory_need(
			strndup(entries[i]->d_name,
				strlen(entries[i]->d_name) - strlen(PATHS_CONFIG_SUFFIX)));
		free(entries[i]);
	}
	free(entries);
	*ret_names = names;
	return 0;
}

void config_dir_free(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}
