/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/json_value.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/memory.h"

/* The control characters of ASCII, and those that UTF-8 has as two bytes. */
static void json_value_hide_controls(char *text)
{
	for (char *at = text; *at; at++) {
		bool is_c1 = (unsigned char)at[0] == 0xc2 && (unsigned char)at[1] >= 0x80 &&
			     (unsigned char)at[1] < 0xa0;

		if (iscntrl((unsigned char)*at))
			*at = '?';
		if (is_c1)
			at[0] = at[1] = '?';
	}
}

/*
 * Names of devices may contain nearly any byte. JSON needs UTF-8, and a terminal should get no
 * control characters.
 */
static json_t *json_value_printable(const char *text)
{
	char *copy = memory_need(strdup(text));
	json_t *json;

	json_value_hide_controls(copy);
	json = json_string(copy);
	for (char *at = copy; *at && !json; at++)
		if ((unsigned char)*at > 0x7f)
			*at = '?';
	if (!json)
		json = json_string(copy);
	free(copy);
	return json;
}

json_t *json_value_text(const char *text)
{
	return text[0] ? json_value_printable(text) : json_null();
}

json_t *json_value_number(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

json_t *json_value_mac(const uint8_t *mac)
{
	char text[MAC_FORMAT_SIZE];

	return mac_is_zero(mac) ? json_null() : json_string(mac_format(mac, text));
}

json_t *json_value_since_ms(uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	return json_integer(now_ns > since_ns ? (json_int_t)((now_ns - since_ns) / NS_PER_MS) : 0);
}
