/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks about lines that xbond's configuration has no place for, or another one. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/import/import.h"

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
