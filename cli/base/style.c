/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/style.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"

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
