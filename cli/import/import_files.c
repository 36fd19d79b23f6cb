/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a source reads: as text, as lines, and those of sections with KEY=VALUE. */
#include "cli/import/import_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"

/* Files, directories and lines. */

#define IMPORT_MAX_BYTES (64 << 20) /* of all files of a call */

#define BLANKS " \t\r\n\v\f"

const struct import_file *import_file_of(struct import *import, const char *path, const char *text,
					 size_t size)
{
	struct import_file *file = import_memory(import, sizeof(*file));
	char *copy = import_memory(import, size + 1);
	size_t mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

	memcpy(copy, text + mark, size - mark);
	*file = (struct import_file){ .path = import_text(import, "%s", path),
				      .rank = import->file_count++,
				      .text = copy };
	return file;
}

const struct import_file *import_file_part(struct import *import, const struct import_file *file,
					   const char *text, size_t size, int lines_before)
{
	struct import_file *part = import_memory(import, sizeof(*part));

	*part = *file;
	part->text = import_text(import, "%.*s", (int)size, text);
	part->lines_before = lines_before;
	return part;
}

/* Returns its size, or -errno. */
static ssize_t import_read_all(int fd, size_t most, char **ret_text)
{
	size_t size = 0, room = 0;
	char *text = NULL;
	ssize_t got;

	do {
		if (size == room) {
			char *grown = memory_need(realloc(text, room = room ? 2 * room : 8192));

			text = grown;
		}
		got = read(fd, text + size, room - size);
		size += got > 0 ? (size_t)got : 0;
	} while (got > 0 && size <= most);
	if (got || size > most) {
		got = got < 0 ? -errno : -EFBIG;
		free(text);
		return got;
	}
	*ret_text = text;
	return (ssize_t)size;
}

/* The number of the line in which the text ends. */
static int import_lines_before(const char *text)
{
	int number = 1;

	while ((text = strchr(text, '\n'))) {
		number++;
		text++;
	}
	return number;
}

int import_file_read(struct import *import, const char *path, const struct import_file **ret_file,
		     struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t size;
	char *text = NULL;

	if (fd < 0)
		return err_set(err, errno, "%s: %m", path);
	size = import_read_all(fd, IMPORT_MAX_BYTES - import->bytes_read, &text);
	close(fd);
	if (size < 0)
		return err_set(err, (int)-size, "%s: %s", path, strerror((int)-size));
	import->bytes_read += (size_t)size;
	*ret_file = import_file_of(import, path, text, (size_t)size);
	if (memchr(text, '\0', (size_t)size))
		size = err_set(err, EINVAL, "%s: line %d has a NUL byte; this is not a text file",
			       path, import_lines_before(text));
	free(text);
	return size < 0 ? (int)size : 0;
}

const char *import_path(struct import *import, const char *path)
{
	return import_text(import, "%s%s", import->root, path);
}

bool import_is_dir(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

bool import_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* A pipe or a terminal in a directory could hold us up. A link to /dev/null hides other files. */
static bool import_is_listed(const char *dir, const struct dirent *entry, const char *suffix)
{
	char path[PATH_MAX];
	struct stat status;

	if (entry->d_name[0] == '.' || !import_ends_with(entry->d_name, suffix) ||
	    snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) >= (int)sizeof(path))
		return false;
	return !stat(path, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
					status.st_rdev == makedev(1, 3));
}

static int import_compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

int import_list_dir(struct import *import, const char *dir, const char *suffix, char ***ret_names,
		    size_t *ret_count, struct err *err)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	char **names = NULL;
	size_t count = 0;

	*ret_names = NULL;
	*ret_count = 0;
	if (!stream)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_set(err, errno, "%s: %m", dir);
	while ((entry = readdir(stream)) && count < IMPORT_MAX_FILES) {
		if (!import_is_listed(dir, entry, suffix))
			continue;
		names = import_grow(import, names, count, sizeof(char *));
		names[count++] = import_text(import, "%s", entry->d_name);
	}
	closedir(stream);
	if (count)
		qsort(names, count, sizeof(char *), import_compare_names);
	*ret_names = names;
	*ret_count = count;
	return 0;
}

static bool import_is_comment(const struct import_lines *lines, const char *line)
{
	line += strspn(line, " \t\v\f\r");
	return lines->comments && *line && strchr(lines->comments, *line);
}

/* Appends a line to what is joined so far, and says whether the next one belongs to it, too. */
static bool import_join_line(struct import_lines *lines, char *joined, size_t *length)
{
	size_t size = strcspn(lines->rest, "\n");
	bool begins = !*length, is_comment = import_is_comment(lines, lines->rest), more;

	memcpy(joined + *length, lines->rest, size);
	*length += size;
	lines->rest += size + (lines->rest[size] == '\n');
	lines->read++;
	if (size && joined[*length - 1] == '\r')
		--*length, --size;
	if (is_comment && !begins && lines->joins == IMPORT_JOINS_BY_SPACE) {
		*length -= size;
		return *lines->rest;
	}
	more = lines->joins && size && joined[*length - 1] == '\\' && *lines->rest &&
	       !(is_comment && begins);
	if (more && lines->joins == IMPORT_JOINS_BY_SPACE)
		joined[*length - 1] = ' ';
	else if (more)
		--*length;
	return more;
}

/* Whether the next line could belong to this one. */
static bool import_may_go_on(const struct import_lines *lines, const char *line, size_t size)
{
	if (!lines->joins || !line[size])
		return false;
	if (import_is_comment(lines, line) &&
	    (line == lines->rest || lines->joins == IMPORT_JOINS_BY_SPACE))
		return line != lines->rest;
	size -= size && line[size - 1] == '\r';
	return size && line[size - 1] == '\\';
}

/* Bytes up to the end of the last line that could belong to this one. */
static size_t import_line_room(const struct import_lines *lines)
{
	const char *at = lines->rest;
	size_t size = strcspn(at, "\n");

	while (import_may_go_on(lines, at, size)) {
		at += size + 1;
		size = strcspn(at, "\n");
	}
	return (size_t)(at - lines->rest) + size + 1;
}

char *import_next_line(struct import *import, struct import_lines *lines)
{
	size_t length = 0;
	char *joined;

	if (!*lines->rest)
		return NULL;
	joined = import_memory(import, import_line_room(lines));
	lines->number = lines->read + 1;
	while (import_join_line(lines, joined, &length))
		;
	joined[length] = '\0';
	return joined;
}

char *import_strip(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		text[--length] = '\0';
	return text;
}

char *import_next_word(char **text, const char *separators)
{
	char *word = *text + strspn(*text, separators);

	if (!*word)
		return NULL;
	*text = word + strcspn(word, separators);
	if (**text)
		*(*text)++ = '\0';
	return word;
}

bool import_is_among(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static bool import_has_name(char *const *paths, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(paths_base(paths[i]), name))
			return true;
	return false;
}

static int import_compare_paths(const void *left, const void *right)
{
	const char *a = *(char *const *)left, *b = *(char *const *)right;

	return strcmp(paths_base(a), paths_base(b));
}

int import_collect(struct import *import, const char *const *dirs, const char *suffix,
		   char ***ret_paths, size_t *ret_count, struct err *err)
{
	char **paths = NULL, **names;
	size_t count = 0, name_count;

	for (; *dirs; dirs++) {
		size_t before = count;
		int r = import_list_dir(import, *dirs, suffix, &names, &name_count, err);

		if (r)
			return r;
		for (size_t i = 0; i < name_count; i++) {
			if (import_has_name(paths, before, names[i]))
				continue;
			paths = import_grow(import, paths, count, sizeof(char *));
			paths[count++] = import_text(import, "%s/%s", *dirs, names[i]);
		}
	}
	if (count)
		qsort(paths, count, sizeof(char *), import_compare_paths);
	*ret_paths = paths;
	*ret_count = count;
	return 0;
}

struct import_reading {
	struct import *import;
	const char *const *suffixes;
	int (*read)(void *context, const char *path, struct err *err);
	void *context;
};

static int import_read_dirs(const struct import_reading *reading, const char *const *dirs,
			    struct err *err)
{
	size_t count;
	char **paths;
	int r = 0;

	for (const char *const *suffix = reading->suffixes; *suffix && !r; suffix++) {
		r = import_collect(reading->import, dirs, *suffix, &paths, &count, err);
		for (size_t i = 0; !r && i < count; i++)
			r = reading->read(reading->context, paths[i], err);
	}
	return r;
}

int import_read_files(struct import *import, const struct import_request *request,
		      const char *const *own, const char *const *suffixes,
		      int (*read)(void *context, const char *path, struct err *err), void *context,
		      struct err *err)
{
	const struct import_reading reading = { import, suffixes, read, context };
	int r = request->file_count ? 0 : import_read_dirs(&reading, own, err);

	for (size_t i = 0; i < request->file_count && !r; i++) {
		const char *const dir[] = { request->files[i], NULL };

		r = import_is_dir(dir[0]) ? import_read_dirs(&reading, dir, err)
					  : read(context, dir[0], err);
	}
	return r;
}

/* Sections with lines KEY=VALUE. */

void import_ini_add(struct import *import, struct import_ini *ini,
		    const struct import_ini_entry *entry)
{
	ini->entries = import_grow(import, ini->entries, ini->count, sizeof(*entry));
	ini->entries[ini->count++] = *entry;
}

static void import_ini_take(struct import *import, struct import_ini *ini, char *text,
			    struct import_ini_entry *entry)
{
	char *value;

	entry->line.what = import_text(import, "%s", text);
	value = strchr(text, '=');
	if (!value) {
		import_lost(import, NULL, &entry->line, "this is not a line KEY=VALUE");
		return;
	}
	*value++ = '\0';
	entry->key = import_strip(text);
	entry->value = import_strip(value);
	import_ini_add(import, ini, entry);
}

void import_ini_read(struct import *import, const struct import_file *file, enum import_joins joins,
		     struct import_ini *ini)
{
	struct import_lines lines = { .rest = file->text, .joins = joins, .comments = "#;" };
	struct import_ini_entry entry = { .section = "", .line = { .file = file } };
	char *text;

	while ((text = import_next_line(import, &lines))) {
		size_t length = strlen(text = import_strip(text));

		entry.line.number = lines.number;
		if (!length || *text == '#' || *text == ';')
			continue;
		if (*text != '[' || text[length - 1] != ']') {
			import_ini_take(import, ini, text, &entry);
			continue;
		}
		text[length - 1] = '\0';
		entry.section = text + 1;
	}
}

static int import_ini_add_file(struct import *import, const char *path, struct import_ini *ini,
			       struct err *err)
{
	const struct import_file *file;
	int r = import_file_read(import, path, &file, err);

	if (!r)
		import_ini_read(import, file, IMPORT_JOINS_BY_SPACE, ini);
	return r;
}

int import_ini_read_unit(struct import *import, const char *path, const char *const *dirs,
			 struct import_ini *ini, struct err *err)
{
	const char *drop_in_dirs[8] = { NULL };
	size_t count = 0;
	char **drop_ins;
	int r;

	for (size_t i = 0; dirs[i] && i < 7; i++)
		drop_in_dirs[i] = import_text(import, "%s/%s.d", dirs[i], paths_base(path));
	r = import_ini_add_file(import, path, ini, err);
	if (!r)
		r = import_collect(import, drop_in_dirs, ".conf", &drop_ins, &count, err);
	for (size_t i = 0; !r && i < count; i++)
		r = import_ini_add_file(import, drop_ins[i], ini, err);
	return r;
}

static bool import_ini_is(const struct import_ini_entry *entry, const char *section,
			  const char *key)
{
	return !strcmp(entry->section, section) && !strcmp(entry->key, key);
}

const struct import_ini_entry *import_ini_find(const struct import_ini *ini, const char *section,
					       const char *key)
{
	for (size_t i = ini->count; i--;)
		if (import_ini_is(&ini->entries[i], section, key))
			return &ini->entries[i];
	return NULL;
}

const char *import_ini_value(const struct import_ini *ini, const char *section, const char *key)
{
	const struct import_ini_entry *entry = import_ini_find(ini, section, key);

	return entry ? entry->value : "";
}

/* In one piece of memory, because a file may have very many such lines. */
char *import_ini_list(struct import *import, const struct import_ini *ini, const char *section,
		      const char *key)
{
	size_t room = 1;
	char *list, *end;

	import_for_each_entry (entry, ini)
		if (import_ini_is(entry, section, key))
			room += strlen(entry->value) + 1;
	list = end = import_memory(import, room);
	import_for_each_entry (entry, ini) {
		if (!import_ini_is(entry, section, key))
			continue;
		if (!*entry->value)
			end = list;
		else if (end > list)
			*end++ = ' ';
		end = stpcpy(end, entry->value);
	}
	return list;
}

bool import_ini_has_section(const struct import_ini *ini, const char *section)
{
	import_for_each_entry (entry, ini)
		if (!strcmp(entry->section, section))
			return true;
	return false;
}
