/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of bonds and slaves: what is taken, and the line for what is not. */
#include "options/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

TEST(test_good_names)
{
	static const char *const names[] = { "b",   "bond0",	       "eth0.100", "-x",
					     "...", "a23456789012345", "b@r" };
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(name_check("bond", names[i], &err), 0);
}

TEST(test_bad_names)
{
	static const char *const names[] = {
		"",    ".",    "..",  "a/b",	"/",	 "a b",	  " a",
		"a\t", "a\nb", "a:b", "bond%d", "a\x7f", "a\x1b", "a234567890123456"
	};
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(name_check("bond", names[i], &err), -EINVAL);
		assert_ptr_equal(strstr(err.text, "bond name"), err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

TEST(test_length_is_told)
{
	struct err err;

	name_check("slave", "a2345678901234567", &err);
	assert_string_equal(err.text, "slave name too long: 17 characters, at most 15");
}

TEST(test_no_err_wanted)
{
	assert_int_equal(name_check("bond", "", NULL), -EINVAL);
}

/* Whatever bytes it is made of, a name comes back from JSON. */
TEST(test_names_in_json)
{
	static const char *const names[] = {
		"eth0", "l\xe9", "l\xc3\xa9", "\xff\xfe%x\x80",
		"\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3"
	};
	char back[XBOND_NAME_SIZE], *text;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *json = name_to_json(names[i]), *read;

		assert_non_null(json);
		text = json_dumps(json, JSON_ENCODE_ANY);
		read = json_loads(text, JSON_DECODE_ANY, NULL);
		assert_true(name_from_json(read, back));
		assert_string_equal(back, names[i]);
		json_decref(json);
		json_decref(read);
		free(text);
	}
}

TEST(test_no_names_in_json)
{
	json_t *number = json_integer(1), *longer = json_string("a234567890123456");
	char back[XBOND_NAME_SIZE];

	assert_false(name_from_json(NULL, back));
	assert_false(name_from_json(number, back));
	assert_false(name_from_json(longer, back));
	json_decref(number);
	json_decref(longer);
}
