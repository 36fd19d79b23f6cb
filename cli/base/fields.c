/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the JSON objects of view/, numbers and times as text. */
#include "cli/base/fields.h"

#include <stdio.h>
#include <string.h>

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

/* Numbers in short units. */

/* "12.30" without the zeros behind its last digit. */
static void units_trim(char *text)
{
	size_t length = strlen(text);

	while (text[length - 1] == '0')
		length--;
	if (text[length - 1] == '.')
		length--;
	text[length] = '\0';
}

const char *units_format(unsigned long long number, char ret_text[UNITS_SIZE])
{
	static const char prefixes[] = "KMGTPE";
	unsigned long long unit = 1000, hundredths;
	int prefix = 0;

	if (number < unit) {
		snprintf(ret_text, UNITS_SIZE, "%llu", number);
		return ret_text;
	}
	for (; number / unit >= 1000; unit *= 1000)
		prefix++;
	hundredths = number / (unit / 100);
	if (hundredths >= 1000)
		hundredths -= hundredths % (hundredths >= 10000 ? 100 : 10);
	snprintf(ret_text, UNITS_SIZE, "%llu.%02llu", hundredths / 100, hundredths % 100);
	units_trim(ret_text);
	snprintf(ret_text + strlen(ret_text), UNITS_SIZE - strlen(ret_text), "%c",
		 prefixes[prefix]);
	return ret_text;
}

const char *units_duration(long long ms, char ret_text[UNITS_SIZE])
{
	static const struct {
		long long ms;
		const char *name;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ms >= units[i].ms) {
			snprintf(ret_text, UNITS_SIZE, "%lld %s", ms / units[i].ms, units[i].name);
			return ret_text;
		}
	snprintf(ret_text, UNITS_SIZE, "%lld ms", ms);
	return ret_text;
}

/* Times of packets. */

const char *clock_text(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	struct tm broken = { 0 };

	localtime_r(&time->tv_sec, &broken);
	snprintf(ret_text, CLOCK_TEXT, "%02d:%02d:%02d.%06ld", broken.tm_hour % 100,
		 broken.tm_min % 100, broken.tm_sec % 100, time->tv_nsec / 1000);
	return ret_text;
}

const char *clock_text_unix(const struct timespec *time, char ret_text[CLOCK_TEXT])
{
	snprintf(ret_text, CLOCK_TEXT, "%lld.%09ld", (long long)time->tv_sec, time->tv_nsec);
	return ret_text;
}
