/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the JSON of one execution, for targets that would otherwise spend their time in the
 * allocator of the address sanitizer. Redzones stand around each piece, nothing is given out twice
 * in an execution, and what was not freed is seen at its end. What is freed comes back with the
 * next. The Makefile wraps free(), by which what json_dumps() returns is freed.
 */
#ifndef XBOND_TESTS_FUZZ_ARENA_H
#define XBOND_TESTS_FUZZ_ARENA_H

#include <jansson.h>
#include <sanitizer/asan_interface.h>

#include "tests/fuzz/input.h"

#define ARENA_SIZE (8u << 20)
#define ARENA_UNIT 16u /* before each piece there is a redzone of it, where its size stands */

static struct {
	_Alignas(ARENA_UNIT) char bytes[ARENA_SIZE];
	size_t used;
	size_t pieces; /* not freed */
} arena;

void __real_free(void *piece);

static size_t *arena_size_of(void *piece)
{
	return (size_t *)((char *)piece - ARENA_UNIT);
}

__attribute__((no_sanitize("address"))) static void *arena_take(size_t size)
{
	char *piece = arena.bytes + arena.used + ARENA_UNIT;
	size_t whole = ARENA_UNIT + (size + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;

	if (size > ARENA_SIZE || whole > ARENA_SIZE - arena.used)
		return malloc(size);
	arena.used += whole;
	*arena_size_of(piece) = size + 1;
	ASAN_UNPOISON_MEMORY_REGION(piece, size);
	arena.pieces++;
	return piece;
}

__attribute__((no_sanitize("address"))) static void arena_give(void *piece)
{
	size_t *size = arena_size_of(piece);

	input_check(*size > 0, "what is freed was not freed before");
	ASAN_POISON_MEMORY_REGION(piece, *size - 1);
	*size = 0;
	arena.pieces--;
}

void __wrap_free(void *piece)
{
	uintptr_t at = (uintptr_t)piece - (uintptr_t)arena.bytes;

	if (at < ARENA_SIZE)
		arena_give(piece);
	else
		__real_free(piece);
}

/* Before each execution. */
static void arena_start(void)
{
	if (!arena.used) {
		json_set_alloc_funcs(arena_take, __wrap_free);
		ASAN_POISON_MEMORY_REGION(arena.bytes, ARENA_SIZE);
	}
	arena.used = ARENA_UNIT;
}

/* After each. */
static void arena_end(void)
{
	input_check(!arena.pieces, "all JSON is freed");
}

#endif
