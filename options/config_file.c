/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_file.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/names.h"

#define BOND_SECTION "bond"
#define SLAVE_SECTION "slave "

/*
 * libinih passes values without their line, so the reader counts lines. The first failure is kept.
 */
struct reading {
	struct config_file *file;
	FILE *stream;
	int line;
	int line_of[OPT_COUNT]; /* the last line of each option */
	bool has_bond;
	int failed_line;
	struct err why;
};

static struct config_slave *config_file_find_slave(struct config_file *file, const char *name)
{
	for (size_t i = 0; i < file->slave_count; i++)
		if (!strcmp(file->slaves[i].name, name))
			return &file->slaves[i];
	return NULL;
}

static struct config_slave *config_file_add_slave(struct config_file *file, const char *name)
{
	struct config_slave *grown =
		reallocarray(file->slaves, file->slave_count + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	file->slaves = grown;
	grown += file->slave_count++;
	memset(grown, 0, sizeof(*grown));
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	return grown;
}

static int config_file_take_slave(struct reading *reading, const char *slave_name,
				  struct config_slave **ret_slave)
{
	int r = name_check("slave", slave_name, &reading->why);

	if (r)
		return r;
	*ret_slave = config_file_find_slave(reading->file, slave_name);
	if (!*ret_slave)
		*ret_slave = config_file_add_slave(reading->file, slave_name);
	return *ret_slave ? 0 : err_set(&reading->why, ENOMEM, "out of memory");
}

static int config_file_take_option(struct reading *reading, struct config_slave *slave,
				   const char *name, const char *value)
{
	enum option_scope scope = slave ? OPTION_SLAVE : OPTION_BOND;
	struct option_set *set = slave ? &slave->options : &reading->file->bond;
	const struct option_spec *option = option_find(scope, name);

	if (option)
		reading->line_of[option->id] = reading->line;
	return option_set_add_line(set, scope, name, value, &reading->why);
}

static int config_file_take(struct reading *reading, const char *section, const char *name,
			    const char *value)
{
	struct config_slave *slave = NULL;
	int r = 0;

	if (!strncmp(section, SLAVE_SECTION, strlen(SLAVE_SECTION)))
		r = config_file_take_slave(reading, section + strlen(SLAVE_SECTION), &slave);
	else if (!strcmp(section, BOND_SECTION))
		reading->has_bond = true;
	else
		r = err_set(&reading->why, EINVAL,
			    "unknown section [%s]; there are [bond] and [slave NAME]", section);
	if (r || !name)
		return r;
	if (!strcmp(name, option_at(OPT_ACTIVE_SLAVE)->name) ||
	    !strcmp(name, option_at(OPT_FORCE)->name))
		return err_set(&reading->why, EINVAL,
			       "%s: belongs to the command line, not into a file", name);
	return config_file_take_option(reading, slave, name, value);
}

static void config_file_check(struct reading *reading, const char *section, const char *name,
			      const char *value)
{
	if (!reading->failed_line && config_file_take(reading, section, name, value))
		reading->failed_line = reading->line;
}

static int config_file_on_value(void *arg, const char *section, const char *name, const char *value)
{
	config_file_check(arg, section, name, value);
	return 1;
}

static bool config_is_comment(const char *line)
{
	const char *text = line + strspn(line, " \t");

	return *text == '#' || *text == ';';
}

/* What is wrong with a line, whatever it says; NULL: nothing. */
static int config_check_line(const char *line, size_t length, bool is_cut, struct err *err)
{
	if (memchr(line, '\0', length))
		return err_set(err, EINVAL, "the line contains a NUL character");
	if (is_cut && !config_is_comment(line))
		return err_set(err, EINVAL, "the line is longer than %zu characters", length - 1);
	return 0;
}

/* Like fgets(), but a line ends where it ends: of one that is too long the rest is skipped. */
static bool config_get_line(struct reading *reading, char *line, size_t size)
{
	struct err *why = &reading->why;
	bool is_cut = false;
	size_t length = 0;
	int c;

	while ((c = fgetc(reading->stream)) != EOF && c != '\n')
		if (length < size - 2)
			line[length++] = (char)c;
		else
			is_cut = true;
	if (c == EOF && !length)
		return false;
	line[length++] = '\n';
	line[length] = '\0';
	if (!reading->failed_line && config_check_line(line, length, is_cut, why))
		reading->failed_line = reading->line;
	return true;
}

/*
 * libinih does not report sections without options, and a slave with only default values has such a
 * section. It also takes the rest of a long line for another line, and an indented line for a
 * continuation of the value before.
 */
static char *config_file_read_line(char *line, int size, void *arg)
{
	struct reading *reading = arg;
	char section[64];
	size_t blanks;

	reading->line++;
	if (!config_get_line(reading, line, (size_t)size))
		return NULL;
	blanks = strspn(line, " \t");
	memmove(line, line + blanks, strlen(line + blanks) + 1);
	if (sscanf(line, "[%63[^]]]", section) == 1)
		config_file_check(reading, section, NULL, NULL);
	return line;
}

/* The mode may come after an option that it refuses, so this check comes last. */
static void config_file_check_modes(struct reading *reading)
{
	uint32_t mode =
		option_set_mode(&reading->file->bond, option_initial(option_at(OPT_MODE)).number);

	for (int id = 0; id < OPT_COUNT && !reading->failed_line; id++)
		if (reading->line_of[id] && option_check_mode(option_at(id), mode, &reading->why))
			reading->failed_line = reading->line_of[id];
}

static void config_file_check_whole(struct reading *reading)
{
	if (reading->failed_line)
		return;
	config_file_check_modes(reading);
	if (reading->failed_line || reading->has_bond)
		return;
	reading->failed_line = reading->line > 1 ? reading->line - 1 : 1;
	err_set(&reading->why, EINVAL, "the file ends without a [bond] section");
}

int config_file_read_stream(struct config_file *ret_file, FILE *stream, const char *name,
			    struct err *err)
{
	struct config_file file = { 0 };
	struct reading reading = { .file = &file, .stream = stream };
	int bad_line =
		ini_parse_stream(config_file_read_line, &reading, config_file_on_value, &reading);

	if (ferror(stream)) {
		bad_line = 0;
		reading.failed_line = reading.line;
		err_set(&reading.why, EIO, "cannot be read: %m");
	}
	fclose(stream);
	if (bad_line && (!reading.failed_line || bad_line < reading.failed_line)) {
		reading.failed_line = bad_line;
		err_set(&reading.why, EINVAL, "neither [section] nor option = value");
	}
	config_file_check_whole(&reading);
	if (reading.failed_line) {
		config_file_free(&file);
		return err_set(err, EINVAL, "%s:%d: %.900s", name, reading.failed_line,
			       reading.why.text);
	}
	*ret_file = file;
	return 0;
}

int config_file_read(struct config_file *ret_file, const char *path, struct err *err)
{
	FILE *stream = fopen(path, "re");

	return stream ? config_file_read_stream(ret_file, stream, path, err)
		      : err_set(err, errno, "%s: %m", path);
}

void config_file_free(struct config_file *file)
{
	free(file->slaves);
	*file = (struct config_file){ 0 };
}
