/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stanzas of interfaces(5), of a file and of those that it sources. Knows nothing of bonds. */
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/import/import_tools.h"

#define MAX_DEPTH 8 /* of files that source files, and of templates */

static const char name_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* The file that is being read, and the stanza in it whose options follow. */
struct ifupdown_reading {
	struct ifupdown_stanzas *stanzas;
	const struct import_file *file;
	const struct ifupdown_reading *by; /* that of the file which sources this one, or NULL */
	struct stat status;
	bool in_stanza;
	bool in_mapping;
	int depth;
	int loops;    /* of a template language, around the line */
	bool in_code; /* between "<%" and "%>" */
};

static void ifupdown_source(struct ifupdown_reading *reading, const char *words, bool is_directory,
			    const struct import_line *line);

static struct ifupdown_stanza *ifupdown_last(const struct ifupdown_stanzas *stanzas)
{
	return &stanzas->list[stanzas->count - 1];
}

/*
 * The line, if what is in it depends on a template language: Mako, which ifupdown2 runs, or Jinja.
 * In commands "${" is the shell's.
 */
static const struct import_line *ifupdown_computed(const struct ifupdown_reading *reading,
						   const struct import_line *line)
{
	struct import_line *copy;
	const char *at = line->what;

	while ((at = strstr(at, "${")) && !strncmp(at, "${IFACE}", 8))
		at++;
	if (!reading->loops && !at && !strstr(line->what, "{{"))
		return NULL;
	copy = import_memory(reading->stanzas->import, sizeof(*copy));
	*copy = *line;
	return copy;
}

/* Takes a line that is the template language's own. Returns false if it is another one. */
static bool ifupdown_take_template(struct ifupdown_reading *reading, const char *text)
{
	static const char *const begins[] = { "for", "if", "while", "try" };
	const char *word = text + (*text == '{');

	if (reading->in_code || !strncmp(text, "<%", 2)) {
		reading->in_code = !strstr(text, "%>");
		return true;
	}
	if (*word != '%')
		return false;
	word += strspn(word, "%- \t");
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(word, begins[i], strlen(begins[i])))
			reading->loops++;
	if (!strncmp(word, "end", 3) && reading->loops)
		reading->loops--;
	return true;
}

/* "NAME [inherits OTHER] [FAMILY METHOD]", without the first word. */
static void ifupdown_begin(struct ifupdown_reading *reading, char *rest, bool is_template,
			   const struct import_line *line)
{
	struct ifupdown_stanzas *stanzas = reading->stanzas;
	const char *name = import_next_word(&rest, IFUPDOWN_BLANKS), *word, *last = NULL;
	struct ifupdown_stanza stanza = { .template = name, .line = *line };

	reading->in_stanza = name;
	reading->in_mapping = false;
	if (!name)
		return;
	if (!is_template)
		stanza.name = name;
	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS))) {
		if (!strcmp(word, "inherits"))
			stanza.inherits = import_next_word(&rest, IFUPDOWN_BLANKS);
		else
			last = word;
	}
	stanza.computed = ifupdown_computed(reading, line);
	stanza.is_manual = !last || !strcmp(last, "manual");
	stanzas->list = import_grow(stanzas->import, stanzas->list, stanzas->count, sizeof(stanza));
	stanzas->list[stanzas->count++] = stanza;
}

static void ifupdown_add(struct import *import, struct ifupdown_stanza *stanza,
			 const struct ifupdown_option *option)
{
	stanza->options = import_grow(import, stanza->options, stanza->count, sizeof(*option));
	stanza->options[stanza->count++] = *option;
}

static bool ifupdown_ends_stanza(const char *word)
{
	return import_is_one_of(word, "auto", "mapping", "no-auto-down", "rename", "no-scripts") ||
	       !strncmp(word, "allow-", 6);
}

bool ifupdown_is_command(const char *key)
{
	return import_is_one_of(key, "pre-up", "up", "post-up", "pre-down", "down", "post-down");
}

static void ifupdown_take_auto(struct ifupdown_stanzas *stanzas, const char *names)
{
	char *rest = import_text(stanzas->import, "%s", names), *word;

	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS))) {
		stanzas->autos = import_grow(stanzas->import, stanzas->autos, stanzas->auto_count,
					     sizeof(*stanzas->autos));
		stanzas->autos[stanzas->auto_count++] = word + (*word == '/');
	}
}

bool ifupdown_is_auto(const struct ifupdown_stanzas *stanzas, const char *name)
{
	for (size_t i = 0; i < stanzas->auto_count; i++)
		if (!fnmatch(stanzas->autos[i], name, 0))
			return true;
	return false;
}

static void ifupdown_take_option(struct ifupdown_reading *reading,
				 const struct ifupdown_option *option)
{
	struct ifupdown_stanza *stanza = ifupdown_last(reading->stanzas);

	if (!stanza->computed && (reading->loops || !ifupdown_is_command(option->key)))
		stanza->computed = ifupdown_computed(reading, &option->line);
	ifupdown_add(reading->stanzas->import, stanza, option);
}

static void ifupdown_take_line(struct ifupdown_reading *reading, char *text, int number)
{
	struct import *import = reading->stanzas->import;
	struct import_line line = { reading->file, number, import_text(import, "%s", text) };
	const char *key = import_next_word(&text, IFUPDOWN_BLANKS);
	const struct ifupdown_option option = { key, text ? import_strip(text) : "", line };

	if (!strcmp(key, "iface") || !strcmp(key, "template"))
		ifupdown_begin(reading, text, *key == 't', &line);
	else if (!strcmp(key, "source") || !strcmp(key, "source-directory"))
		ifupdown_source(reading, option.value, key[6] == '-', &line);
	else if (ifupdown_ends_stanza(key))
		reading->in_stanza = reading->in_mapping = false;
	else if (reading->in_stanza)
		ifupdown_take_option(reading, &option);
	else if (!reading->in_mapping)
		import_lost(import, NULL, &line, "this line belongs to no stanza");
	if (!strcmp(key, "mapping"))
		reading->in_mapping = true;
	if (!strcmp(key, "auto") || !strcmp(key, "allow-auto"))
		ifupdown_take_auto(reading->stanzas, option.value);
}

/* Whether the file is being read already, so that it would source itself. */
static bool ifupdown_is_open(const struct ifupdown_reading *reading, const struct stat *status)
{
	for (; reading; reading = reading->by)
		if (reading->status.st_dev == status->st_dev &&
		    reading->status.st_ino == status->st_ino)
			return true;
	return false;
}

static int ifupdown_read_file(struct ifupdown_stanzas *stanzas, const char *path,
			      const struct ifupdown_reading *by, struct err *err)
{
	struct ifupdown_reading reading = { .stanzas = stanzas,
					    .by = by,
					    .depth = by ? by->depth + 1 : 0 };
	struct import_lines lines = { .joins = IMPORT_JOINS, .comments = "#" };
	char *text;
	int r;

	if (stanzas->file_count++ == IMPORT_MAX_FILES)
		return err_set(err, EFBIG, "more than %d files", IMPORT_MAX_FILES);
	if (!stat(path, &reading.status) && ifupdown_is_open(by, &reading.status))
		return err_set(err, ELOOP, "%s sources itself", path);
	r = import_file_read(stanzas->import, path, &reading.file, err);
	if (r)
		return r;
	lines.rest = reading.file->text;
	while ((text = import_next_line(stanzas->import, &lines))) {
		text = import_strip(text);
		if (*text && *text != '#' && !ifupdown_take_template(&reading, text))
			ifupdown_take_line(&reading, text, lines.number);
	}
	return 0;
}

/*
 * ifupdown itself takes no name with a dot from a directory. Other tools write such files for it,
 * and somebody who gives us a directory means them.
 */
static bool ifupdown_is_file_name(const char *name, bool is_given)
{
	static const char *const ends[] = { "", ".cfg", ".conf", ".intf" };
	const char *end = name + strspn(name, name_characters);

	for (size_t i = 0; i < (is_given ? sizeof(ends) / sizeof(ends[0]) : 1); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

static void ifupdown_pass_over(struct import *import, const char *path, const char *name)
{
	struct import_line line = { import_file_of(import, path, "", 0), 0, name };

	import_lost(import, NULL, &line,
		    "ifupdown ignores files with such names; name the file to "
		    "import it");
}

static int ifupdown_read_dir(struct ifupdown_stanzas *stanzas, const char *dir,
			     const struct ifupdown_reading *by, struct err *err)
{
	size_t count;
	char **names;
	int r = import_list_dir(stanzas->import, dir, "", &names, &count, err);

	for (size_t i = 0; i < count && !r; i++) {
		const char *path = import_text(stanzas->import, "%s/%s", dir, names[i]);

		if (import_is_dir(path))
			continue;
		if (ifupdown_is_file_name(names[i], !by))
			r = ifupdown_read_file(stanzas, path, by, err);
		else
			ifupdown_pass_over(stanzas->import, path, names[i]);
	}
	return r;
}

/* Only what a file is, so that a device or a pipe cannot hold us up. */
static void ifupdown_read_sourced(struct ifupdown_reading *reading, const char *path,
				  const struct import_line *line)
{
	struct stat status;
	struct err err = { "" };
	int r = 0;

	if (stat(path, &status))
		r = err_set(&err, errno, "%s: %m", path);
	else if (S_ISDIR(status.st_mode))
		r = ifupdown_read_dir(reading->stanzas, path, reading, &err);
	else if (S_ISREG(status.st_mode))
		r = ifupdown_read_file(reading->stanzas, path, reading, &err);
	if (r)
		import_refuse(reading->stanzas->import, NULL, line, "%s", err.text);
}

/* A relative path begins where the file is that sources it. */
static const char *ifupdown_sourced_path(const struct ifupdown_reading *reading, const char *word)
{
	struct import *import = reading->stanzas->import;
	const char *slash = strrchr(reading->file->path, '/');

	if (*word == '/')
		return import_path(import, word);
	if (!slash)
		return word;
	return import_text(import, "%.*s/%s", (int)(slash - reading->file->path),
			   reading->file->path, word);
}

static void ifupdown_source_word(struct ifupdown_reading *reading, const char *word,
				 bool is_directory, const struct import_line *line)
{
	glob_t found;

	if (glob(ifupdown_sourced_path(reading, word), 0, NULL, &found)) {
		if (!strpbrk(word, "*?["))
			import_refuse(reading->stanzas->import, NULL, line, "%s does not exist",
				      word);
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!is_directory || import_is_dir(found.gl_pathv[i]))
			ifupdown_read_sourced(reading, found.gl_pathv[i], line);
	globfree(&found);
}

static void ifupdown_source(struct ifupdown_reading *reading, const char *words, bool is_directory,
			    const struct import_line *line)
{
	char *rest = import_text(reading->stanzas->import, "%s", words), *word;

	reading->in_stanza = false;
	if (!*words) {
		import_lost(reading->stanzas->import, NULL, line, "it names no file");
		return;
	}
	if (reading->depth == MAX_DEPTH) {
		import_refuse(reading->stanzas->import, NULL, line,
			      "files source each other more than %d levels deep", MAX_DEPTH);
		return;
	}
	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS)))
		ifupdown_source_word(reading, word, is_directory, line);
}

int ifupdown_read_stanzas(struct ifupdown_stanzas *stanzas, const char *path, struct err *err)
{
	return import_is_dir(path) ? ifupdown_read_dir(stanzas, path, NULL, err)
				   : ifupdown_read_file(stanzas, path, NULL, err);
}

static struct ifupdown_stanza *ifupdown_template(const struct ifupdown_stanzas *stanzas,
						 const struct ifupdown_stanza *of)
{
	for (size_t i = 0; of->inherits && i < stanzas->count; i++)
		if (&stanzas->list[i] != of && !strcmp(stanzas->list[i].template, of->inherits))
			return &stanzas->list[i];
	return NULL;
}

static bool ifupdown_has(const struct ifupdown_stanza *stanza, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(stanza->options[i].key, key))
			return true;
	return false;
}

void ifupdown_inherit(struct ifupdown_stanzas *stanzas)
{
	for (size_t i = 0; i < stanzas->count; i++) {
		struct ifupdown_stanza *stanza = &stanzas->list[i];
		struct ifupdown_stanza *from = stanza;

		for (int depth = 0; depth < MAX_DEPTH; depth++) {
			size_t own = stanza->count;

			from = ifupdown_template(stanzas, from);
			for (size_t j = 0; from && from != stanza && j < from->count; j++)
				if (!ifupdown_has(stanza, own, from->options[j].key))
					ifupdown_add(stanzas->import, stanza, &from->options[j]);
			if (!from || from == stanza)
				break;
			from->is_inherited = true;
		}
	}
}
