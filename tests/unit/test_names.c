/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of bonds and slaves: what is taken, and the line for what is not. */
#include "options/names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_good_names(void **state)
{
	static const char *const names[] = { "b",   "bond0",	       "eth0.100", "-x",
					     "...", "a23456789012345", "b@r" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(name_check("bond", names[i], &err), 0);
}

static void test_bad_names(void **state)
{
	static const char *const names[] = {
		"",    ".",    "..",  "a/b",	"/",	 "a b",	  " a",
		"a\t", "a\nb", "a:b", "bond%d", "a\x7f", "a\x1b", "a234567890123456"
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(name_check("bond", names[i], &err), -EINVAL);
		assert_ptr_equal(strstr(err.text, "bond name"), err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_length_is_told(void **state)
{
	struct err err;

	(void)state;
	name_check("slave", "a2345678901234567", &err);
	assert_string_equal(err.text, "slave name too long: 17 characters, at most 15");
}

static void test_no_err_wanted(void **state)
{
	(void)state;
	assert_int_equal(name_check("bond", "", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_names),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_length_is_told),
		cmocka_unit_test(test_no_err_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
