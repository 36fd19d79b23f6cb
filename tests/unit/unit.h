/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For every unit test: cmocka, with what has to stand before it, and main(), which runs each TEST()
 * of the file.
 */
#ifndef XBOND_TESTS_UNIT_UNIT_H
#define XBOND_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct CMUnitTest unit_tests[100];
static size_t unit_tests_count;

/* TEST(title, setup, teardown): cmocka calls setup before it and teardown after it, if named. */
#define TEST(title, ...)                                                                         \
	static void title(void **state);                                                         \
	static __attribute__((constructor)) void title##_add(void)                               \
	{                                                                                        \
		unit_test_add(                                                                   \
			(struct CMUnitTest){ .name = #title, .test_func = title, __VA_ARGS__ }); \
	}                                                                                        \
	static void title(void **state)

static void unit_test_add(struct CMUnitTest test)
{
	assert_in_range(unit_tests_count, 0, sizeof(unit_tests) / sizeof(*unit_tests) - 1);
	unit_tests[unit_tests_count++] = test;
}

int main(void)
{
	return _cmocka_run_group_tests("tests", unit_tests, unit_tests_count, NULL, NULL);
}

#endif
