/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How verbs print: fields, numbers and times as text; on a terminal colours and 80 columns. */
#include "cli/base/print.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "common/memory.h"
#include "options/options.h"

/* Fields of the JSON objects of view/, numbers and times. */

long long field_number_or(const json_t *object, const char *key, long long unknown)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : unknown;
}

long long field_number(const json_t *object, const char *key)
{
	return field_number_or(object, key, 0);
}

const char *field_text_or(const json_t *object, const char *key, const char *unknown)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : unknown;
}

const char *field_text(const json_t *object, const char *key)
{
	return field_text_or(object, key, "unknown");
}

bool field_is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void field_list_text(const json_t *list, char *ret_text, size_t size)
{
	size_t used = 0, at;
	const json_t *item;

	snprintf(ret_text, size, "none");
	json_array_foreach (list, at, item)
		if (used < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 at ? "," : "", json_string_value(item));
}

void field_option_text(const json_t *value, char *ret_text, size_t size)
{
	if (json_is_array(value))
		field_list_text(value, ret_text, size);
	else if (json_is_integer(value))
		snprintf(ret_text, size, "%lld", json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(ret_text, size, "%s", json_is_true(value) ? "on" : "off");
	else
		snprintf(ret_text, size, "%s",
			 json_is_string(value) ? json_string_value(value) : "none");
}

uint32_t field_option_number(const json_t *bond, const char *option)
{
	const struct option_spec *spec = option_find(OPTION_BOND, option);
	struct option_value value = { 0 };
	char text[OPTION_TEXT_SIZE];

	field_option_text(json_object_get(json_object_get(bond, "options"), option), text,
			  sizeof(text));
	return spec && !option_parse(spec, text, &value, NULL) ? value.number : 0;
}

/* Numbers in short units. */

/* "12.30" without the zeros behind its last digit. */
static void units_trim(char *text)
{
	size_t length = strlen(text);

	while (text[length - 1] == '0')
		length--;
	if (text[length - 1] == '.')
		length--;
	text[length] = '\0';
}

const char *units_format(unsigned long long number, char ret_text[UNITS_SIZE])
{
	static const char prefixes[] = "KMGTPE";
	unsigned long long unit = 1000, hundredths;
	int prefix = 0;

	if (number < unit) {
		snprintf(ret_text, UNITS_SIZE, "%llu", number);
		return ret_text;
	}
	for (; number / unit >= 1000; unit *= 1000)
		prefix++;
	hundredths = number / (unit / 100);
	if (hundredths >= 1000)
		hundredths -= hundredths % (hundredths >= 10000 ? 100 : 10);
	snprintf(ret_text, UNITS_SIZE, "%llu.%02llu", hundredths / 100, hundredths % 100);
	units_trim(ret_text);
	snprintf(ret_text + strlen(ret_text), UNITS_SIZE - strlen(ret_text), "%c",
		 prefixes[prefix]);
	return ret_text;
}

const char *units_duration(long long ms, char ret_text[UNITS_SIZE])
{
	static const struct {
		long long ms;
		const char *name;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ms >= units[i].ms) {
			snprintf(ret_text, UNITS_SIZE, "%lld %s", ms / units[i].ms, units[i].name);
			return ret_text;
		}
	snprintf(ret_text, UNITS_SIZE, "%lld ms", ms);
	return ret_text;
}

/* Times of packets. */

const char *clock_text(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	struct tm broken = { 0 };

	localtime_r(&time->tv_sec, &broken);
	snprintf(ret_text, CLOCK_TEXT, "%02d:%02d:%02d.%06ld", broken.tm_hour % 100,
		 broken.tm_min % 100, broken.tm_sec % 100, time->tv_nsec / 1000);
	return ret_text;
}

const char *clock_text_unix(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	snprintf(ret_text, CLOCK_TEXT, "%lld.%09ld", (long long)time->tv_sec, time->tv_nsec);
	return ret_text;
}

/* Colours. */

static bool style_in_colour;

void style_init(void)
{
	const char *terminal = getenv("TERM");

	style_in_colour = isatty(STDOUT_FILENO) && cli_allows_colour() && terminal && *terminal &&
			  strcmp(terminal, "dumb");
}

static void style_begin(enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "", [STYLE_NAME] = "1",	 [STYLE_GOOD] = "32",
		[STYLE_BAD] = "31", [STYLE_FAINT] = "2",
	};

	if (style_in_colour && style != STYLE_PLAIN)
		printf("\033[%sm", codes[style]);
}

static void style_end(enum style style)
{
	if (style_in_colour && style != STYLE_PLAIN)
		fputs("\033[0m", stdout);
}

/* Bytes that go on with a character of UTF-8 take no column. */
static int style_columns(const char *text, size_t length)
{
	int columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void style_print(enum style style, int width, const char *text)
{
	int columns = style_columns(text, strlen(text));

	style_begin(style);
	fputs(text, stdout);
	style_end(style);
	if (columns < width)
		printf("%*s", width - columns, "");
}

/*
 * A stream in the place of standard output, which gathers a line and writes it in parts. The other
 * parts begin where the text of the first one does: behind a label that has two spaces after it,
 * else two columns further than the line.
 */

#define HANG 2
#define HANG_MOST 30

struct text_wrap {
	FILE *to;
	FILE **place; /* stdout or stderr */
	char *line;
	size_t length, room;
};

static struct text_wrap text_wraps[2];

/* The bytes of a change of colour at the text; 0: there is none. */
static size_t text_wrap_colour(const char *text)
{
	return !strncmp(text, "\033[", 2) ? strcspn(text, "m") + 1 : 0;
}

/* The bytes of the next character, and the columns that it takes. */
static size_t text_wrap_next(const char *text, int *ret_columns)
{
	size_t length = text_wrap_colour(text);

	*ret_columns = 0;
	if (length)
		return strnlen(text, length);
	*ret_columns = ((unsigned char)*text & 0xc0) != 0x80;
	return 1;
}

static int text_wrap_hang(const char *line)
{
	size_t indent = strspn(line, " "), label = indent + strcspn(line + indent, " ");
	const char *gap = strstr(line + indent, "  ");

	if (line[label] && gap) {
		label = (size_t)(gap - line) + strspn(gap, " ");
		if (label <= HANG_MOST && line[label])
			return (int)label;
	}
	return (int)indent + HANG;
}

/* How much of the text is printed on a line with so much room; at least a word. */
static size_t text_wrap_fit(const char *text, int room)
{
	size_t at = strspn(text, " "), fits = 0;
	int column = (int)at, columns;

	while (text[at] && (column <= room || !fits)) {
		/* Lists have commas without spaces. */
		if (text[at] == ' ' || (at && text[at - 1] == ',' && !isspace(text[at])))
			fits = at;
		at += text_wrap_next(text + at, &columns);
		column += columns;
	}
	return text[at] || column > room ? fits ? fits : strlen(text) : at;
}

static void text_wrap_write(FILE *to, const char *line)
{
	int hang = text_wrap_hang(line), column = 0;

	for (;;) {
		size_t length = text_wrap_fit(line, TEXT_WIDTH - column), words = length;

		while (line[length] && words && line[words - 1] == ' ')
			words--;
		fwrite(line, 1, words, to);
		line += length;
		line += strspn(line, " ");
		if (!*line)
			return;
		fprintf(to, "\n%*s", hang, "");
		column = hang;
	}
}

static void text_wrap_add(struct text_wrap *wrap, char byte)
{
	if (wrap->length + 1 >= wrap->room) {
		wrap->room += 1024;
		wrap->line = memory_need(realloc(wrap->line, wrap->room));
	}
	wrap->line[wrap->length++] = byte;
	wrap->line[wrap->length] = '\0';
}

static void text_wrap_flush(struct text_wrap *wrap)
{
	if (wrap->length)
		text_wrap_write(wrap->to, wrap->line);
	wrap->length = 0;
}

static ssize_t text_wrap_take(void *cookie, const char *bytes, size_t size)
{
	struct text_wrap *wrap = cookie;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n') {
			text_wrap_flush(wrap);
			fputc('\n', wrap->to);
		} else if (bytes[i]) {
			text_wrap_add(wrap, bytes[i]);
		}
	}
	return fflush(wrap->to) || ferror(wrap->to) ? 0 : (ssize_t)size;
}

static void text_wrap_replace(struct text_wrap *wrap, FILE **place, int fd)
{
	static const cookie_io_functions_t functions = { .write = text_wrap_take };
	FILE *out = isatty(fd) ? fopencookie(wrap, "w", functions) : NULL;

	if (!out)
		return;
	setvbuf(out, NULL, _IOLBF, 0);
	*wrap = (struct text_wrap){ .to = *place, .place = place };
	*place = out;
}

void text_wrap_begin(void)
{
#ifdef __GLIBC__ /* elsewhere these cannot be replaced, and the terminal breaks the lines */
	text_wrap_replace(&text_wraps[0], &stdout, STDOUT_FILENO);
	text_wrap_replace(&text_wraps[1], &stderr, STDERR_FILENO);
#endif
}

void text_wrap_end(void)
{
	struct text_wrap *wrap = &text_wraps[0];

	if (text_wraps[1].to) /* the rest of a line may be in it */
		text_wrap_flush(&text_wraps[1]);
	if (!wrap->to)
		return;
	fclose(*wrap->place);
	text_wrap_flush(wrap);
	*wrap->place = wrap->to;
	free(wrap->line);
	*wrap = (struct text_wrap){ 0 };
}
