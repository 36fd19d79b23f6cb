/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of one call of import: pieces that are freed all at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/import/import.h"
#include "common/memory.h"

struct import_text {
	struct import_text *next;
	_Alignas(max_align_t) char bytes[];
};

void *import_memory(struct import *import, size_t size)
{
	struct import_text *text = memory_need(calloc(1, sizeof(*text) + size));

	text->next = import->texts;
	import->texts = text;
	return text->bytes;
}

/* The room doubles whenever the count is a power of two. */
void *import_grow(struct import *import, void *list, size_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return list;
	grown = import_memory(import, (count ? 2 * count : 1) * size);
	if (count)
		memcpy(grown, list, count * size);
	return grown;
}

char *import_text(struct import *import, const char *format, ...)
{
	va_list args, again;
	char *text;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	text = import_memory(import, length < 0 ? 1 : (size_t)length + 1);
	if (length > 0)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

void import_free(struct import *import)
{
	struct import_text *next;

	for (struct import_text *text = import->texts; text; text = next) {
		next = text->next;
		free(text);
	}
	*import = (struct import){ 0 };
}
