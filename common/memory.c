/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/memory.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *memory_need(void *block)
{
	if (!block) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return block;
}

char *memory_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return memory_need(length < 0 ? NULL : text);
}

static void *memory_of_json(size_t size)
{
	return memory_need(malloc(size));
}

void memory_init(void)
{
	json_set_alloc_funcs(memory_of_json, free);
}
