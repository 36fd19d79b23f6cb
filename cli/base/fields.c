/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/fields.h"

#include <stdio.h>

#include "options/options.h"

long long field_number_or(const json_t *object, const char *key, long long unknown)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : unknown;
}

long long field_number(const json_t *object, const char *key)
{
	return field_number_or(object, key, 0);
}

const char *field_text_or(const json_t *object, const char *key, const char *unknown)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : unknown;
}

const char *field_text(const json_t *object, const char *key)
{
	return field_text_or(object, key, "unknown");
}

bool field_is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void field_list_text(const json_t *list, char *ret_text, size_t size)
{
	size_t used = 0, at;
	const json_t *item;

	snprintf(ret_text, size, "none");
	json_array_foreach (list, at, item)
		if (used < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 at ? "," : "", json_string_value(item));
}

void field_option_text(const json_t *value, char *ret_text, size_t size)
{
	if (json_is_array(value))
		field_list_text(value, ret_text, size);
	else if (json_is_integer(value))
		snprintf(ret_text, size, "%lld", json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(ret_text, size, "%s", json_is_true(value) ? "on" : "off");
	else
		snprintf(ret_text, size, "%s",
			 json_is_string(value) ? json_string_value(value) : "none");
}

uint32_t field_option_number(const json_t *bond, const char *option)
{
	const struct option_spec *spec = option_find(OPTION_BOND, option);
	struct option_value value = { 0 };
	char text[OPTION_TEXT_SIZE];

	field_option_text(json_object_get(json_object_get(bond, "options"), option), text,
			  sizeof(text));
	return spec && !option_parse(spec, text, &value, NULL) ? value.number : 0;
}
