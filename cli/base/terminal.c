/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a terminal gets that files do not: colours, and lines of 80 columns. */
#include "cli/base/terminal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "common/err.h"

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
	text_wrap_replace(&text_wraps[0], &stdout, STDOUT_FILENO);
	text_wrap_replace(&text_wraps[1], &stderr, STDERR_FILENO);
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
