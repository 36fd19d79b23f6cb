/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bonds there are, and where their pins are: names and directories, no maps. */
#include "common/pins.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"

static void pins_names_swap(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

void pins_path(char *ret_path, size_t size, const char *bpf_dir, const char *name)
{
	size_t prefix = strlen(bpf_dir) + 1;

	snprintf(ret_path, size, "%s/%s", bpf_dir, name);
	if (prefix < size)
		pins_names_swap(ret_path + prefix, '.', ':');
}

static int pins_names_by_name(const void *left, const void *right)
{
	return strverscmp(*(char *const *)left, *(char *const *)right);
}

static bool pins_names_is_bond_dir(const char *bpf_dir, const struct dirent *entry)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct stat st;

	if (entry->d_name[0] == '.' || strlen(entry->d_name) >= XBOND_NAME_SIZE)
		return false;
	snprintf(path, sizeof(path), "%s/%s", bpf_dir, entry->d_name);
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void pins_names_add_name(char ***names, size_t *count, const char *name)
{
	char **grown = memory_need(reallocarray(*names, *count + 2, sizeof(**names)));

	*names = grown;
	grown[*count] = memory_need(strdup(name));
	pins_names_swap(grown[*count], ':', '.');
	grown[++*count] = NULL;
}

static void pins_names_read_names(DIR *dir, const char *bpf_dir, char ***names)
{
	struct dirent *entry;
	size_t count = 0;

	*names = memory_need(calloc(1, sizeof(**names)));
	while ((entry = readdir(dir)))
		if (pins_names_is_bond_dir(bpf_dir, entry))
			pins_names_add_name(names, &count, entry->d_name);
	qsort(*names, count, sizeof(**names), pins_names_by_name);
}

int pins_names(char ***ret_names, const char *bpf_dir, struct err *err)
{
	DIR *dir = opendir(bpf_dir);

	if (!dir && errno == ENOENT) {
		*ret_names = memory_need(calloc(1, sizeof(**ret_names)));
		return 0;
	}
	if (!dir && (errno == EACCES || errno == EPERM))
		return err_set(err, errno, "no permission to read %s; run as root", bpf_dir);
	if (!dir)
		return err_set(err, errno, "cannot read %s: %m", bpf_dir);
	pins_names_read_names(dir, bpf_dir, ret_names);
	closedir(dir);
	return 0;
}

void pins_names_free(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}
