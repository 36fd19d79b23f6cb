/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One configuration file: what its lines say, the bond in memory that they fill, and their
 * mistakes.
 */
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "options/config_file.h"
#include "options/names.h"

static bool config_mistakes_has(const struct config_mistakes *mistakes, struct config_place place)
{
	for (size_t i = 0; i < mistakes->count; i++)
		if (place.line && mistakes->list[i].line == place.line &&
		    mistakes->list[i].file == place.file && !mistakes->list[i].is_warning)
			return true;
	return false;
}

/* What a file contains could steer the terminal that it is printed on. */
static void config_mistakes_tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void config_mistakes_put(struct config_mistakes *mistakes, struct config_place place,
				bool is_warning, const char *why)
{
	struct config_mistake mistake = { .file = place.file,
					  .line = place.line,
					  .path_length = strlen(place.path),
					  .is_warning = is_warning };
	char text[CONFIG_MISTAKE_SIZE];

	if (config_mistakes_has(mistakes, place))
		return;
	mistakes->errors += !is_warning;
	if (place.line)
		snprintf(text, sizeof(text), "%s:%d: %s", place.path, place.line, why);
	else
		snprintf(text, sizeof(text), "%s: %s", place.path, why);
	if (mistake.path_length < sizeof(text))
		config_mistakes_tame(text + mistake.path_length);
	if (mistakes->count < CONFIG_MISTAKES_MAX)
		mistake.text = memory_need(strdup(text));
	if (mistake.text)
		mistakes->list[mistakes->count++] = mistake;
	else
		mistakes->left_out++;
}

void config_mistakes_add(struct config_mistakes *mistakes, struct config_place place,
			 const char *why)
{
	config_mistakes_put(mistakes, place, false, why);
}

void config_mistakes_warn(struct config_mistakes *mistakes, struct config_place place,
			  const char *format, ...)
{
	char why[CONFIG_MISTAKE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	config_mistakes_put(mistakes, place, true, why);
}

static int config_mistakes_compare(const void *a, const void *b)
{
	const struct config_mistake *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->line - other->line;
}

void config_mistakes_sort(struct config_mistakes *mistakes)
{
	qsort(mistakes->list, mistakes->count, sizeof(mistakes->list[0]), config_mistakes_compare);
}

const char *config_mistake_why(const struct config_mistake *mistake)
{
	const char *behind = mistake->text + mistake->path_length;
	const char *why = strstr(behind, ": ");

	return why ? why + 2 : mistake->text;
}

int config_mistakes_first(const struct config_mistakes *mistakes, int code, struct err *err)
{
	for (size_t i = 0; i < mistakes->count; i++)
		if (!mistakes->list[i].is_warning)
			return err_set(err, code, "%s", mistakes->list[i].text);
	return err_set(err, code,
		       "there are more mistakes than can be listed, after %zu warnings; mend what "
		       "these name first",
		       mistakes->count);
}

void config_mistakes_free(struct config_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		free(mistakes->list[i].text);
	*mistakes = (struct config_mistakes){ 0 };
}

struct config_slave *config_file_find_slave(const struct config_file *file,
					    const struct config_slave *like)
{
	for (size_t i = 0; i < file->slave_count; i++)
		if (!strcmp(file->slaves[i].name, like->name) &&
		    mac_is_same(file->slaves[i].perm_mac, like->perm_mac))
			return &file->slaves[i];
	return NULL;
}

struct config_slave *config_file_add_slave(struct config_file *file,
					   const struct config_slave *like)
{
	struct config_slave *slave;

	memory_more(file->slaves, file->slave_count);
	slave = &file->slaves[file->slave_count++];
	*slave = (struct config_slave){ .place = like->place };
	memcpy(slave->name, like->name, sizeof(slave->name));
	memcpy(slave->perm_mac, like->perm_mac, sizeof(slave->perm_mac));
	return slave;
}

const char *config_slave_name(const struct config_slave *slave, char ret_text[MAC_FORMAT_SIZE])
{
	if (config_slave_is_by_mac(slave))
		return mac_format(slave->perm_mac, ret_text);
	memcpy(ret_text, slave->name, sizeof(slave->name));
	return ret_text;
}

int config_slave_slot(const struct config_slave *slave, const struct pins *pins)
{
	if (!config_slave_is_by_mac(slave))
		return pins_slot_by_name(pins, slave->name);
	pins_for_each_member (pins, slot)
		if (mac_is_same(pins->slaves[slot].perm_mac, slave->perm_mac))
			return (int)slot;
	return -1;
}

void config_file_free(struct config_file *file)
{
	for (unsigned int i = 0; i < file->path_count; i++)
		free(file->paths[i]);
	free(file->paths);
	free(file->slaves);
	*file = (struct config_file){ 0 };
}

#define BOND_SECTION "bond"
#define SLAVE_SECTION "slave"
#define SECTIONS "[bond], [slave DEV] and [slave MAC]"
#define SECTION_SIZE 64
#define MAX_BYTES (1024 * 1024)

enum section { SECTION_NONE, SECTION_BOND, SECTION_SLAVE, SECTION_BAD };

/*
 * libinih passes values without their line, so the reader counts lines, and notes the section that
 * a value is in.
 */
struct reading {
	struct config_file *file;
	FILE *stream;
	struct config_place place;
	struct config_mistakes *mistakes;
	enum section section;
	size_t slave; /* of SECTION_SLAVE */
	size_t bytes;
	bool has_bond;
	bool is_bad; /* of this line something has been said already */
};

static void config_parse_complain(struct reading *reading, const struct err *why)
{
	config_mistakes_add(reading->mistakes, reading->place, why->text);
	reading->is_bad = true;
}

static int config_parse_slave_name(const char *text, struct config_slave *ret_slave,
				   struct err *err)
{
	if (!*text)
		return err_set(err, EINVAL,
			       "the section names no slave; allowed: [slave DEV] and [slave MAC]");
	if (!strchr(text, ':')) {
		if (name_check("slave", text, err))
			return -EINVAL;
		memcpy(ret_slave->name, text, strlen(text) + 1);
		return 0;
	}
	if (mac_parse(text, ret_slave->perm_mac))
		return err_set(
			err, EINVAL,
			"slave '%s' is neither the name of a device, which has no ':', nor a "
			"MAC address; allowed: [slave eth0] and [slave 02:00:5e:10:00:00]",
			text);
	if (ret_slave->perm_mac[0] & 1 || mac_is_zero(ret_slave->perm_mac))
		return err_set(err, EINVAL, "slave '%s': no device has this MAC address%s", text,
			       ret_slave->perm_mac[0] & 1 ? ", because it is a multicast address"
							  : "");
	return 0;
}

static int config_parse_begin_slave(struct reading *reading, const char *text, struct err *err)
{
	struct config_slave slave = { .place = reading->place }, *found;
	struct config_file *file = reading->file;
	int r = config_parse_slave_name(text, &slave, err);

	if (r)
		return r;
	found = config_file_find_slave(file, &slave);
	if (!found && file->slave_count >= XBOND_MAX_SLAVES)
		return err_set(err, ENOSPC, "one slave too many; a bond can have %d",
			       XBOND_MAX_SLAVES);
	if (!found)
		found = config_file_add_slave(file, &slave);
	reading->slave = (size_t)(found - file->slaves);
	return 0;
}

static int config_parse_begin(struct reading *reading, const char *section, struct err *err)
{
	size_t length = strlen(SLAVE_SECTION);

	reading->section = SECTION_BAD;
	if (!strcmp(section, BOND_SECTION)) {
		reading->section = SECTION_BOND;
		reading->has_bond = true;
		return 0;
	}
	if (strncmp(section, SLAVE_SECTION, length) || (section[length] && section[length] != ' '))
		return err_set(err, EINVAL, "unknown section [%s]; there are " SECTIONS, section);
	if (config_parse_begin_slave(reading, section + length + strspn(section + length, " "),
				     err))
		return -EINVAL;
	reading->section = SECTION_SLAVE;
	return 0;
}

static bool config_parse_is_comment(const char *text)
{
	return *text == '#' || *text == ';';
}

static int config_parse_section(struct reading *reading, const char *line, struct err *err)
{
	char section[SECTION_SIZE] = "";
	const char *end = strchr(line, ']'), *rest;

	reading->section = SECTION_BAD;
	if (!end)
		return err_set(err, EINVAL, "the section's name does not end; add ']'");
	rest = end + 1 + strspn(end + 1, " \t\r\n");
	if (*rest && !config_parse_is_comment(rest))
		return err_set(
			err, EINVAL,
			"there is something after the section's name; put it on the next line");
	if ((size_t)(end - line) > sizeof(section))
		return err_set(err, EINVAL, "the section's name is too long; there are " SECTIONS);
	memcpy(section, line + 1, (size_t)(end - line) - 1);
	return config_parse_begin(reading, section, err);
}

static int config_parse_unknown(enum option_scope scope, const char *name, struct err *err)
{
	enum option_scope other = scope == OPTION_BOND ? OPTION_SLAVE : OPTION_BOND;
	const char *guess = option_guess(scope, name), *absent = option_absent(name);
	const char *verb = scope == OPTION_BOND ? "create" : "add-slave";

	if (option_find(other, name))
		return err_set(err, EINVAL, "%s: is an option of a %s; it belongs in a section %s",
			       name, other == OPTION_BOND ? "bond" : "slave",
			       other == OPTION_BOND ? "[bond]" : "[slave DEV]");
	if (absent)
		return err_set(err, EINVAL, "unknown %s option: %s: %s",
			       scope == OPTION_BOND ? "bond" : "slave", name, absent);
	if (guess)
		return err_set(err, EINVAL, "unknown %s option: %s; did you mean %s?",
			       scope == OPTION_BOND ? "bond" : "slave", name, guess);
	return err_set(err, EINVAL, "unknown %s option: %s ('bondctl %s --help' lists them)",
		       scope == OPTION_BOND ? "bond" : "slave", name, verb);
}

static int config_parse_option(struct reading *reading, const char *name, const char *value,
			       struct err *err)
{
	struct config_slave *slave =
		reading->section == SECTION_SLAVE ? &reading->file->slaves[reading->slave] : NULL;
	enum option_scope scope = slave ? OPTION_SLAVE : OPTION_BOND;
	struct option_set *set = slave ? &slave->options : &reading->file->bond;
	struct config_place *at = slave ? slave->at : reading->file->at;
	const struct option_spec *option = option_find(scope, name);
	int r;

	if (!option)
		return config_parse_unknown(scope, name, err);
	if (option->id == OPT_ACTIVE_SLAVE || option->id == OPT_FORCE)
		return err_set(err, EINVAL, "%s: belongs on the command line, not in a file", name);
	if (set->given[option->id] && !option_is_list(option))
		return err_set(err, EINVAL, "%s: given twice, first in line %d; give it once", name,
			       at[option->id].line);
	at[option->id] = reading->place;
	r = option_set_add_line(set, scope, name, value, err);
	if (!r)
		return 0;
	set->given[option->id] = false;
	option_guess_value(option, value, err);
	return r;
}

static int config_parse_on_value(void *arg, const char *section, const char *name,
				 const char *value)
{
	struct reading *reading = arg;
	struct err why = { "" };
	int r = 0;

	if (reading->is_bad || reading->section == SECTION_BAD)
		return 1;
	if (reading->section == SECTION_NONE)
		r = err_set(&why, EINVAL,
			    "%s: unknown section, because no section comes before; begin the file "
			    "with [bond]",
			    name);
	else if (!*name)
		r = err_set(&why, EINVAL, "no option before '='; write option = value");
	else
		r = config_parse_option(reading, name, value, &why);
	if (r)
		config_parse_complain(reading, &why);
	return 1;
}

/* Everything that can be wrong with a line before libinih sees it. */
static int config_parse_line(struct reading *reading, const char *line, struct err *err)
{
	if (!line[strspn(line, "\r\n")] || config_parse_is_comment(line))
		return 0;
	if (*line == '[')
		return config_parse_section(reading, line, err);
	if (!strpbrk(line, "=:"))
		return err_set(err, EINVAL, "neither [section] nor option = value");
	return 0;
}

/*
 * Like fgets(), but a line ends where it ends: of one that is too long the rest is skipped.
 * Returns false at the end.
 */
static bool config_parse_get_line(struct reading *reading, char *line, size_t size)
{
	struct err why;
	bool is_cut = false;
	size_t length = 0;
	int c;

	while ((c = getc_unlocked(reading->stream)) != EOF && c != '\n' &&
	       reading->bytes++ < MAX_BYTES)
		if (length < size - 2)
			line[length++] = (char)c;
		else
			is_cut = true;
	if (c == EOF && !length)
		return false;
	line[length++] = '\n';
	line[length] = '\0';
	if (reading->bytes >= MAX_BYTES)
		err_set(&why, EFBIG, "the file is longer than %d bytes", MAX_BYTES);
	else if (memchr(line, '\0', length))
		err_set(&why, EINVAL, "the line contains a NUL character");
	else if (is_cut && !config_parse_is_comment(line + strspn(line, " \t")))
		err_set(&why, EINVAL, "the line is longer than %zu characters", length - 1);
	else
		return true;
	config_parse_complain(reading, &why);
	return true;
}

/*
 * libinih does not report sections without options, and a slave with only default values has such a
 * section. It also takes the rest of a long line for another line, and an indented line for a
 * continuation of the value before. It names only the first line that makes no sense; it gets an
 * empty line instead of each.
 */
static char *config_parse_read_line(char *line, int size, void *arg)
{
	struct reading *reading = arg;
	struct err why = { "" };
	size_t blanks;

	if (reading->bytes >= MAX_BYTES)
		return NULL;
	reading->place.line++;
	reading->is_bad = false;
	if (!config_parse_get_line(reading, line, (size_t)size))
		return NULL;
	/* a byte order mark, which some editors put before a file */
	if (reading->place.line == 1 && !strncmp(line, "\xef\xbb\xbf", 3))
		memmove(line, line + 3, strlen(line + 3) + 1);
	blanks = strspn(line, " \t");
	memmove(line, line + blanks, strlen(line + blanks) + 1);
	if (!reading->is_bad && config_parse_line(reading, line, &why))
		config_parse_complain(reading, &why);
	if (reading->is_bad)
		strcpy(line, "\n");
	return line;
}

void config_parse(struct config_file *file, FILE *stream, struct config_place place,
		  struct config_mistakes *mistakes)
{
	struct reading reading = {
		.file = file, .stream = stream, .place = place, .mistakes = mistakes
	};
	int bad_line =
		ini_parse_stream(config_parse_read_line, &reading, config_parse_on_value, &reading);
	struct err why = { "" };

	if (bad_line < 0)
		err_set(&why, ENOMEM, "out of memory");
	else if (ferror(stream))
		err_set(&why, EIO, "cannot be read: %m");
	else if (bad_line)
		err_set(&why, EINVAL, "neither [section] nor option = value");
	else if (!reading.has_bond && !place.file && !mistakes->errors)
		err_set(&why, EINVAL, "the file ends without a [bond] section");
	if (bad_line > 0)
		reading.place.line = bad_line;
	else if (reading.place.line > 1)
		reading.place.line--; /* the end of the file has been counted */
	if (why.text[0])
		config_parse_complain(&reading, &why);
	fclose(stream);
}
