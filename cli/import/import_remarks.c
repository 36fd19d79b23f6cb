/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks about lines that xbond's configuration has no place for, or another one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"

#define SEPARATORS " \t\r\n\"':=+"

/* Whether the value behind such a key is for nobody's eyes. Tools write a key with '-', '_' or
 * none. */
static bool import_is_secret(const char *key, size_t length)
{
	static const char *const words[] = { "psk",	   "password",	"passphrase", "secret",
					     "wepkey",	   "key1",	"key2",	      "key3",
					     "privatekey", "sharedkey", "wirelesskey" };
	char plain[64];
	size_t count = 0;

	for (size_t i = 0; i < length && count < sizeof(plain) - 1; i++)
		if (key[i] != '-' && key[i] != '_')
			plain[count++] = (char)tolower((unsigned char)key[i]);
	plain[count] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(plain, words[i]))
			return true;
	return false;
}

/* A value may have any characters in it, so all that follows is left out as well. */
static const char *import_without_secrets(struct import *import, const char *what)
{
	const char *at = what;

	while (*at) {
		size_t length = 0;

		while (isalnum((unsigned char)at[length]) ||
		       (at[length] && strchr("-_", at[length])))
			length++;
		if (length && import_is_secret(at, length)) {
			const char *value = at + length + strspn(at + length, SEPARATORS);

			if (value > at + length && *value)
				return import_text(import, "%.*s(hidden)", (int)(value - what),
						   what);
		}
		at += length ? length : 1;
	}
	return what;
}

static void import_remark(struct import *import, enum import_fate fate,
			  const struct import_bond *bond, const struct import_line *line,
			  const char *why)
{
	size_t count = import->remark_count++;

	import->remarks = import_grow(import, import->remarks, count, sizeof(*import->remarks));
	import->remarks[count] = (struct import_remark){
		.fate = fate,
		.line = *line,
		.bond = bond ? bond->name : NULL,
		.why = why,
		.order = count,
	};
	import->remarks[count].line.what = import_without_secrets(import, line->what);
}

static const char *import_why(struct import *import, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	return import_text(import, "%s", text);
}

void import_lost(struct import *import, const struct import_bond *bond,
		 const struct import_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import_remark(import, IMPORT_LOST, bond, line, import_why(import, format, args));
	va_end(args);
}

void import_refuse(struct import *import, struct import_bond *bond, const struct import_line *line,
		   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import_remark(import, IMPORT_LOST, bond, line, import_why(import, format, args));
	va_end(args);
	if (!bond)
		import->is_incomplete = true;
	else if (!bond->refused.file)
		bond->refused = *line;
}

void import_changed(struct import *import, const struct import_bond *bond,
		    const struct import_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import_remark(import, IMPORT_CHANGED, bond, line, import_why(import, format, args));
	va_end(args);
}

void import_stays(struct import *import, const struct import_bond *bond,
		  const struct import_line *line)
{
	import_remark(import, IMPORT_STAYS, bond, line, NULL);
}

static int import_compare_remarks(const void *left, const void *right)
{
	const struct import_remark *a = left, *b = right;

	if (a->line.file->rank != b->line.file->rank)
		return a->line.file->rank < b->line.file->rank ? -1 : 1;
	if (a->line.number != b->line.number)
		return a->line.number < b->line.number ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void import_sort_remarks(struct import *import)
{
	if (import->remark_count)
		qsort(import->remarks, import->remark_count, sizeof(*import->remarks),
		      import_compare_remarks);
}
