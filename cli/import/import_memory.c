/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of one call of import: pieces that are freed all at once, and an index of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/import/import.h"
#include "common/err.h"

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

/* FNV-1a */
static size_t import_index_hash(const void *of, const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)of;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 32);
}

/* Its entry, or the free one where it would be. There is room. */
static struct import_index_entry *import_index_at(const struct import_index *index, const void *of,
						  const char *name)
{
	size_t i = import_index_hash(of, name) & (index->room - 1);

	while (index->entries[i].name &&
	       (index->entries[i].of != of || strcmp(index->entries[i].name, name)))
		i = (i + 1) & (index->room - 1);
	return &index->entries[i];
}

static void import_index_grow(struct import *import, struct import_index *index)
{
	struct import_index grown = { .count = index->count,
				      .room = index->room ? 2 * index->room : 64 };

	grown.entries = import_memory(import, grown.room * sizeof(*grown.entries));
	for (size_t i = 0; i < index->room; i++)
		if (index->entries[i].name)
			*import_index_at(&grown, index->entries[i].of, index->entries[i].name) =
				index->entries[i];
	*index = grown;
}

void import_index_put(struct import *import, struct import_index *index, const void *of,
		      const char *name, const void *what)
{
	struct import_index_entry *entry;

	if (2 * index->count >= index->room)
		import_index_grow(import, index);
	entry = import_index_at(index, of, name);
	index->count += !entry->name;
	*entry = (struct import_index_entry){ .of = of, .name = name, .what = what };
}

const void *import_index_get(const struct import_index *index, const void *of, const char *name)
{
	return index->room ? import_index_at(index, of, name)->what : NULL;
}
