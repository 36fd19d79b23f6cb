/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond's configuration from all of its files, and back into one: reading, the directory, writing.
 */
#include "options/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "options/option_set.h"
#include "options/values.h"

/*
 * What can be wrong with a configuration although each line of it is right: options that its mode
 * refuses, options that exclude each other, slaves that contradict each other. Called by
 * config_file.c when all files have been read.
 */

/* It has a place, so somebody has set it, but the value was refused. */
static bool config_check_is_unknown(const struct config_file *file, enum option_id id)
{
	return file->at[id].line && !file->bond.given[id];
}

static void config_check_modes(const struct option_set *set, const struct config_place *at,
			       uint32_t mode, struct config_mistakes *mistakes)
{
	struct err why;

	for (int id = 0; id < OPT_COUNT; id++)
		if (set->given[id] && option_check_mode(option_at(id), mode, &why))
			config_mistakes_add(mistakes, at[id], why.text);
}

/* The mode may come after an option that it refuses. */
static void config_check_all_modes(const struct config_file *file, struct config_mistakes *mistakes)
{
	uint32_t mode = option_set_mode(&file->bond, option_initial(option_at(OPT_MODE)).number);

	if (config_check_is_unknown(file, OPT_MODE))
		return;
	config_check_modes(&file->bond, file->at, mode, mistakes);
	for (size_t i = 0; i < file->slave_count; i++)
		config_check_modes(&file->slaves[i].options, file->slaves[i].at, mode, mistakes);
}

/* The later one of the options; NULL: a value is not known. */
static const struct config_place *config_check_place(const struct config_file *file,
						     const struct option_together *together)
{
	static const struct config_place nowhere;
	const struct config_place *last = &nowhere;

	for (unsigned int i = 0; i < together->involved_count; i++) {
		const struct config_place *place = &file->at[together->involved[i]];

		if (config_check_is_unknown(file, together->involved[i]))
			return NULL;
		if (place->line && (place->file > last->file ||
				    (place->file == last->file && place->line > last->line)))
			last = place;
	}
	return last;
}

static void config_check_together(const struct config_file *file, struct config_mistakes *mistakes)
{
	const struct option_together *together;
	struct xbond_settings settings = { 0 };
	struct xbond_bond bond = { 0 };
	struct err why;

	values_fill(&bond, &settings, &file->bond);
	for (unsigned int i = 0; (together = option_together_at(i)); i++) {
		const struct config_place *place = config_check_place(file, together);

		if (place && place->line && together->check(&bond, &why))
			config_mistakes_add(mistakes, *place, why.text);
	}
	if (option_set_check_device(&file->bond, &bond, &why))
		config_mistakes_add(mistakes, file->at[OPT_PATH], why.text);
}

static void config_check_queue_ids(const struct config_file *file, struct config_mistakes *mistakes)
{
	char text[MAC_FORMAT_SIZE];
	struct err why;

	for (size_t i = 0; i < file->slave_count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct config_slave *slave = &file->slaves[i];
			const struct config_slave *other = &file->slaves[j];
			uint32_t number = slave->options.value[OPT_QUEUE_ID].number;

			if (!slave->options.given[OPT_QUEUE_ID] || !number ||
			    !other->options.given[OPT_QUEUE_ID] ||
			    other->options.value[OPT_QUEUE_ID].number != number)
				continue;
			err_set(&why, EEXIST, "queue_id: %u is the number of %s; choose another",
				number, config_slave_name(other, text));
			config_mistakes_add(mistakes, slave->at[OPT_QUEUE_ID], why.text);
		}
}

static void config_check_count(const struct config_file *file, struct config_mistakes *mistakes)
{
	struct err why;

	if (file->slave_count <= XBOND_MAX_SLAVES)
		return;
	err_set(&why, ENOSPC, "one slave too many; a bond can have %d", XBOND_MAX_SLAVES);
	config_mistakes_add(mistakes, file->slaves[XBOND_MAX_SLAVES].place, why.text);
}

/* It may be added by hand, so the file is right; but a name that is mistyped looks the same. */
static void config_check_primary(const struct config_file *file, struct config_mistakes *mistakes)
{
	const char *primary = file->bond.value[OPT_PRIMARY].name;

	if (!file->bond.given[OPT_PRIMARY] || !*primary)
		return;
	for (size_t i = 0; i < file->slave_count; i++)
		if (config_slave_is_by_mac(&file->slaves[i]) ||
		    !strcmp(file->slaves[i].name, primary))
			return;
	config_mistakes_warn(
		mistakes, file->at[OPT_PRIMARY],
		"primary: %s is not a slave in this file; it has no effect until it is one",
		primary);
}

/* Also takes a hash_seed of `random` out, because that is the default. */
static void config_check(struct config_file *file, struct config_mistakes *mistakes)
{
	config_check_all_modes(file, mistakes);
	config_check_together(file, mistakes);
	config_check_queue_ids(file, mistakes);
	config_check_count(file, mistakes);
	config_check_primary(file, mistakes);
	if (file->bond.value[OPT_HASH_SEED].is_drawn)
		file->bond.given[OPT_HASH_SEED] = false;
}

/* The path lives as long as the file, because places point to it. */
static struct config_place config_file_add_path(struct config_file *file, const char *path)
{
	struct config_place place = { memory_need(strdup(path)), file->path_count++, 0 };

	file->paths =
		memory_need(reallocarray(file->paths, file->path_count, sizeof(*file->paths)));
	file->paths[place.file] = (char *)place.path;
	return place;
}

/* What has a place, but is not given, has a value that is not allowed. */
static void config_file_merge_options(struct option_set *into, struct config_place *into_at,
				      const struct option_set *from,
				      const struct config_place *from_at)
{
	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *other = option_set_other_name(option_at(id));

		if (!from_at[id].line)
			continue;
		if (other && !from->given[other->id])
			into->given[other->id] = false;
		into->given[id] = from->given[id];
		into->value[id] = from->value[id];
		into_at[id] = from_at[id];
	}
}

static void config_file_merge(struct config_file *file, const struct config_file *layer)
{
	config_file_merge_options(&file->bond, file->at, &layer->bond, layer->at);
	for (size_t i = 0; i < layer->slave_count; i++) {
		const struct config_slave *from = &layer->slaves[i];
		struct config_slave *into = config_file_find_slave(file, from);

		if (!into)
			into = config_file_add_slave(file, from);
		config_file_merge_options(&into->options, into->at, &from->options, from->at);
	}
}

static void config_file_add_stream(struct config_file *file, FILE *stream, const char *path,
				   struct config_mistakes *mistakes)
{
	struct config_place place = config_file_add_path(file, path);
	struct config_file layer = { 0 };

	config_parse(&layer, stream, place, mistakes);
	config_file_merge(file, &layer);
	config_file_free(&layer);
}

/* Must not block, whatever the path leads to. Returns NULL with errno. */
static FILE *config_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		return fdopen(fd, "r");
	close(fd);
	errno = EINVAL;
	return NULL;
}

/* The next file of the configuration, or the folder of its drop-ins, cannot be read. */
static int config_file_refuse(struct config_mistakes *mistakes, const char *path,
			      const struct config_file *file, int code)
{
	const struct config_place place = { path, file->path_count, 0 };

	config_mistakes_add(mistakes, place,
			    code == EINVAL ? "is not a regular file" : strerror(code));
	return -code;
}

static int config_file_add_file(struct config_file *file, const char *path,
				struct config_mistakes *mistakes)
{
	FILE *stream = config_file_open(path);

	if (!stream)
		return config_file_refuse(mistakes, path, file, errno);
	config_file_add_stream(file, stream, path, mistakes);
	return 0;
}

/* Files whose names make them configuration. */
static int config_file_is_entry(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(PATHS_CONFIG_SUFFIX);

	return entry->d_name[0] != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, PATHS_CONFIG_SUFFIX);
}

/* By the bytes of their names. */
static int config_file_compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int config_file_add_drop_ins(struct config_file *file, const char *path,
				    struct config_mistakes *mistakes)
{
	char dir[PATH_MAX], drop_in[PATH_MAX];
	struct dirent **entries;
	int count, r = 0;

	snprintf(dir, sizeof(dir), "%s" CONFIG_DROP_INS_SUFFIX, path);
	count = scandir(dir, &entries, config_file_is_entry, config_file_compare_entries);
	if (count < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (count < 0)
		return config_file_refuse(mistakes, dir, file, errno);
	for (int i = 0; i < count; i++) {
		int failed;

		if (snprintf(drop_in, sizeof(drop_in), "%s/%s", dir, entries[i]->d_name) <
		    (int)sizeof(drop_in))
			failed = config_file_add_file(file, drop_in, mistakes);
		else
			failed = config_file_refuse(mistakes, entries[i]->d_name, file,
						    ENAMETOOLONG);
		r = r ? r : failed;
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* The last step of every reader. r: of the steps before. */
static int config_file_finish(struct config_file *file, int r, struct config_mistakes *mistakes,
			      struct config_file *ret_file)
{
	if (!r)
		config_check(file, mistakes);
	config_mistakes_sort(mistakes);
	if (!r && mistakes->errors)
		r = -EINVAL;
	if (r)
		config_file_free(file);
	else
		*ret_file = *file;
	return r;
}

int config_file_read(struct config_file *ret_file, const char *path,
		     struct config_mistakes *ret_mistakes)
{
	struct config_file file = { 0 };
	int r, drop_ins;

	*ret_mistakes = (struct config_mistakes){ 0 };
	r = config_file_add_file(&file, path, ret_mistakes);
	drop_ins = r ? 0 : config_file_add_drop_ins(&file, path, ret_mistakes);
	return config_file_finish(&file, r ? r : drop_ins, ret_mistakes, ret_file);
}

/* Frees the list. */
static int config_file_return(int r, struct config_mistakes *mistakes, struct err *err)
{
	if (r)
		config_mistakes_first(mistakes, -r, err);
	config_mistakes_free(mistakes);
	return r;
}

int config_file_read_or_err(struct config_file *ret_file, const char *path, struct err *err)
{
	struct config_mistakes mistakes;
	int r = config_file_read(ret_file, path, &mistakes);

	return config_file_return(r, &mistakes, err);
}

int config_file_read_alone(struct config_file *ret_file, const char *path, struct err *err)
{
	struct config_mistakes mistakes = { 0 };
	struct config_file file = { 0 };
	int r = config_file_add_file(&file, path, &mistakes);

	r = config_file_finish(&file, r, &mistakes, ret_file);
	return config_file_return(r, &mistakes, err);
}

int config_file_read_streams(struct config_file *ret_file, const struct config_stream *streams,
			     size_t count, struct config_mistakes *ret_mistakes)
{
	struct config_file file = { 0 };

	*ret_mistakes = (struct config_mistakes){ 0 };
	for (size_t i = 0; i < count; i++)
		config_file_add_stream(&file, streams[i].stream, streams[i].name, ret_mistakes);
	return config_file_finish(&file, 0, ret_mistakes, ret_file);
}

int config_file_read_stream(struct config_file *ret_file, FILE *stream, const char *name,
			    struct err *err)
{
	const struct config_stream one = { stream, name };
	struct config_mistakes mistakes;
	int r = config_file_read_streams(ret_file, &one, 1, &mistakes);

	return config_file_return(r, &mistakes, err);
}

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

/* of the longest addresses, in the line of a configuration file */
#define ADDRESSES_A_LINE 4

int config_write_check_name(const char *name, struct err *err)
{
	if (strpbrk(name, "];") || name[0] == '#')
		return err_set(err, EINVAL,
			       "the name '%s' cannot be written to a configuration file; rename "
			       "the device",
			       name);
	return 0;
}

/* The reader's lines have a limit, so a long list takes several; each adds to the ones before. */
static void config_write_list(FILE *file, const struct option_spec *option,
			      const struct option_value *value)
{
	char text[OPTION_ADDRESS_SIZE];

	for (unsigned int i = 0; i < option_address_count(value); i++)
		if (i % ADDRESSES_A_LINE == 0)
			fprintf(file, "%s%s = %s", i ? "\n" : "", option->name,
				option_address_at(option, value, i, text));
		else
			fprintf(file, ",%s", option_address_at(option, value, i, text));
	fprintf(file, "\n");
}

void config_write_option(FILE *file, const struct option_spec *option,
			 const struct option_value *value)
{
	char text[OPTION_TEXT_SIZE];

	if (option_is_list(option) && option_address_count(value)) {
		config_write_list(file, option, value);
		return;
	}
	option_format(option, value, text, sizeof(text));
	fprintf(file, "%s = %s\n", option->name, text);
}

/* Only root may give a file away; who else saves keeps it. */
static int config_write_permit(int fd, const char *replaced)
{
	struct stat old = { .st_mode = 0644 };

	if (replaced && !stat(replaced, &old) && fchown(fd, old.st_uid, old.st_gid) && !geteuid())
		return -1;
	return fchmod(fd, old.st_mode & 07777);
}

int config_write_end(FILE *file, const char *replaced)
{
	int fd = fileno(file), r = 0;

	if (fflush(file) || ferror(file) || config_write_permit(fd, replaced) || fsync(fd))
		r = -errno;
	if (fclose(file) && !r)
		r = -errno;
	return r;
}

void config_write_sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}
