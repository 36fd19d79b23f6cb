/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/paths.h"
#include "options/config_file.h"

static void import_print_options(FILE *file, const struct import_options *options,
				 enum option_scope scope)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct import_option *option = import_find_option(options, id);

		if (option && option_at(id)->scope == scope)
			config_write_option(file, option_at(id), &option->value);
	}
}

static void import_print(FILE *file, const struct import *import, const struct import_bond *bond)
{
	fprintf(file, "# Written by bondctl import %s; see xbond.conf(5).\n[bond]\n", import->tool);
	import_print_options(file, &bond->options, OPTION_BOND);
	for (size_t i = 0; i < bond->slave_count; i++) {
		fprintf(file, "\n[slave %s]\n", bond->slaves[i]->name);
		import_print_options(file, &bond->slaves[i]->options, OPTION_SLAVE);
	}
}

int import_configuration(struct import *import, const struct import_bond *bond,
			 const char **ret_text, struct err *err)
{
	struct config_file parsed;
	char *text = NULL;
	size_t size;
	FILE *file = memory_need(open_memstream(&text, &size));
	int r;

	import_print(file, import, bond);
	if (fclose(file))
		return err_set(err, errno, "%m");
	*ret_text = import_text(import, "%s", text);
	r = config_file_read_stream(&parsed, fmemopen(text, size, "r"), bond->name, err);
	if (!r)
		config_file_free(&parsed);
	free(text);
	return r;
}

const char *import_target(struct import *import, const char *dir, const struct import_bond *bond)
{
	return import_text(import, "%s/%s" PATHS_CONFIG_SUFFIX, dir, bond->name);
}

static int import_write_temporary(int fd, const char *text)
{
	FILE *file = fdopen(fd, "w");

	if (!file) {
		int r = -errno;

		close(fd);
		return r;
	}
	fputs(text, file);
	return config_write_end(file, NULL);
}

/* The file gets its name when it is complete; link() refuses a name that is taken. */
static int import_write_one(struct import *import, const char *dir, const struct import_bond *bond,
			    struct err *err)
{
	const char *path = import_target(import, dir, bond), *text;
	char *temporary = import_text(import, "%s/.%s.XXXXXX", dir, bond->name);
	int r = import_configuration(import, bond, &text, err), fd;

	if (r)
		return r;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "%s: %m", temporary);
	r = import_write_temporary(fd, text);
	if (!r && link(temporary, path))
		r = -errno;
	unlink(temporary);
	if (r == -EEXIST)
		return err_set(err, EEXIST, "%s exists already; move it away first", path);
	return r ? err_set(err, -r, "%s: %s", path, strerror(-r)) : 0;
}

int import_write(struct import *import, const char *dir, struct import_bond *const *bonds,
		 size_t count, struct err *err)
{
	int r = paths_make_dir(dir, 0755);
	size_t done = 0;

	if (r)
		return err_set(err, -r, "%s: %s", dir, strerror(-r));
	for (; done < count && !r; done++)
		r = import_write_one(import, dir, bonds[done], err);
	if (r)
		for (done--; done; done--)
			unlink(import_target(import, dir, bonds[done - 1]));
	config_write_sync_dir(dir);
	return r;
}
