/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/memory.h"

#include <errno.h>
#include <jansson.h>
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

void *memory_grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1)) /* there is room up to the next power of two */
		return array;
	return memory_need(reallocarray(array, count ? 2 * count : 1, size));
}

char *memory_text_of(const char *format, va_list args)
{
	char *text = NULL;
	int length = vasprintf(&text, format, args);

	return memory_need(length < 0 ? NULL : text);
}

char *memory_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = memory_text_of(format, args);
	va_end(args);
	return text;
}

void memory_free_texts(char **texts)
{
	for (char **text = texts; text && *text; text++)
		free(*text);
	free(texts);
}

bool memory_is_want(int r)
{
	return r == -ENOMEM || r == -ENOBUFS || r == -EMFILE || r == -ENFILE || r == -EAGAIN;
}

static void *memory_of_json(size_t size)
{
	return memory_need(malloc(size));
}

void memory_init(void)
{
	json_set_alloc_funcs(memory_of_json, free);
}
