/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/json_value.h"

#include "common/mac.h"

json_t *json_value_text(const char *text)
{
	return text[0] ? json_string(text) : json_null();
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
