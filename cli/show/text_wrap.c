/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"

/* Lists have commas without spaces. */
static size_t text_wrap_next(const char *text, size_t at)
{
	at += strcspn(text + at, " ,");
	return text[at] == ',' ? at + 1 : at;
}

/* How much of the text fits; at least a word, unless none is `enough`. */
static size_t text_wrap_fit(const char *text, int room, bool none_is_enough)
{
	size_t fits = 0, next = text_wrap_next(text, 0);

	while (style_columns(text, next) <= room || (!fits && !none_is_enough)) {
		fits = next;
		if (!text[next])
			break;
		next = text_wrap_next(text, next + (text[next] == ' '));
	}
	return fits;
}

int text_wrap(enum style style, int column, int hang, const char *text)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	size_t length = strlen(text);
	char *line;

	for (;;) {
		if (is_terminal)
			length = text_wrap_fit(text, TEXT_WIDTH - column, column > hang);
		line = memory_need(strndup(text, length));
		style_print(style, 0, line);
		free(line);
		column += style_columns(text, length);
		text += length;
		if (!*text)
			return column;
		text += strspn(text, " ");
		printf("\n%*s", hang, "");
		column = hang;
	}
}

void text_wrap_item(const char *label, const char *text)
{
	int column = printf("    %-20s ", label);

	text_wrap(STYLE_PLAIN, column, TEXT_ITEM_COLUMN, text);
	putchar('\n');
}

char *text_wrap_collect(void (*print)(FILE *out, const json_t *object), const json_t *object)
{
	char *text = NULL;
	size_t size;
	FILE *out = memory_need(open_memstream(&text, &size));

	print(out, object);
	fclose(out);
	return text;
}

void text_wrap_item_of(const char *label, void (*print)(FILE *out, const json_t *object),
		       const json_t *object)
{
	char *text = text_wrap_collect(print, object);

	text_wrap_item(label, text ? text : "");
	free(text);
}
