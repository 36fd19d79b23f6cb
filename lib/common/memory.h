/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory, for all programs. None of them can do anything sensible without it, and bondd loses no
 * traffic when it ends and is started again. So whatever allocates is wrapped in memory_need(),
 * which ends the program if there is nothing, and nobody checks. What the kernel refuses for want
 * of memory is an error like any other.
 */
#ifndef XBOND_COMMON_MEMORY_H
#define XBOND_COMMON_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns block, what malloc() and the like have returned: `x = memory_need(calloc(n, size))`. */
void *memory_need(void *block) __attribute__((returns_nonnull, warn_unused_result));
/*
 * Room for one more element in an array that has grown by this alone; it doubles:
 * `memory_more(list->link, list->count)`, then `list->link[list->count++] = ...`.
 */
#define memory_more(array, count) ((array) = memory_grow((array), (count), sizeof(*(array))))
void *memory_grow(void *array, size_t count, size_t size) __attribute__((returns_nonnull));
/* Takes an element out of a list, if it is there. Its struct has a member `next`. */
#define memory_unlist(first, element)                \
	do {                                         \
		__typeof__(element) *at_ = &(first); \
                                                     \
		while (*at_ && *at_ != (element))    \
			at_ = &(*at_)->next;         \
		if (*at_)                            \
			*at_ = (element)->next;      \
	} while (0)
/* As asprintf(). */
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
/* As vasprintf(). */
char *memory_text_of(const char *format, va_list args)
	__attribute__((format(printf, 1, 0), returns_nonnull));
/* Frees the texts and the list of them, at whose end is NULL; it may be NULL itself. */
void memory_free_texts(char **texts);
/* Is it the kernel's -errno for want of memory or descriptors, which may end? */
bool memory_is_want(int r);
/* At the begin of a program: jansson's values come from here, too. */
void memory_init(void);

#endif
