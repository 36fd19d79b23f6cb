/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes that a fuzz target gets, taken one value after another. Behind the end all is zero, so
 * a target needs no length checks of its own. Included by every target; knows nothing of xbond.
 */
#ifndef XBOND_TESTS_FUZZ_INPUT_H
#define XBOND_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer, or replay_main.c, calls. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static inline void input_take(struct input *input, void *ret_bytes, size_t size)
{
	size_t there = size < input->left ? size : input->left;

	memset(ret_bytes, 0, size);
	if (there)
		memcpy(ret_bytes, input->at, there);
	input->at += there;
	input->left -= there;
}

static inline uint8_t input_u8(struct input *input)
{
	uint8_t value;

	input_take(input, &value, sizeof(value));
	return value;
}

static inline uint16_t input_u16(struct input *input)
{
	uint16_t value;

	input_take(input, &value, sizeof(value));
	return value;
}

static inline uint32_t input_u32(struct input *input)
{
	uint32_t value;

	input_take(input, &value, sizeof(value));
	return value;
}

/*
 * At most that many of the next bytes, in memory of exactly their size, so that the address
 * sanitizer sees each byte that is read behind them. To be freed.
 */
static inline uint8_t *input_copy(struct input *input, size_t most, size_t *ret_size)
{
	size_t size = most < input->left ? most : input->left;
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	input_take(input, copy, size);
	*ret_size = size;
	return copy;
}

/* What must hold whatever the input is. */
static inline void input_check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

#endif
