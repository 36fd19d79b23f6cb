/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/text_units.h"

#include <stdio.h>
#include <string.h>

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
