/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Long sentences on a terminal take several lines. Elsewhere a sentence is one line, for grep.
 */
#ifndef XBOND_CLI_BASE_TEXT_WRAP_H
#define XBOND_CLI_BASE_TEXT_WRAP_H

#include <jansson.h>
#include <stdio.h>

#include "cli/base/style.h"

#define TEXT_WIDTH 80
#define TEXT_ITEM_COLUMN 25 /* of what stands behind a label of --details */

/*
 * Prints the text, which begins at this column; further lines begin at column `hang`. Returns the
 * column behind it.
 */
int text_wrap(enum style style, int column, int hang, const char *text);
/* A line of --details. */
void text_wrap_item(const char *label, const char *text);

/* What `print` writes of the object, to be freed; NULL without memory. */
char *text_wrap_collect(void (*print)(FILE *out, const json_t *object), const json_t *object);
/* The same as a line of --details. */
void text_wrap_item_of(const char *label, void (*print)(FILE *out, const json_t *object),
		       const json_t *object);

#endif
