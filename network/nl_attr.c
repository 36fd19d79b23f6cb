/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/nl_attr.h"

#include <string.h>

static bool nl_attr_has(const struct nlattr *attribute, size_t size)
{
	return attribute && nla_len(attribute) >= (int)size;
}

uint32_t nl_attr_u32(const struct nlattr *attribute, uint32_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint32_t)) ? nla_get_u32(attribute) : otherwise;
}

uint16_t nl_attr_u16(const struct nlattr *attribute, uint16_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint16_t)) ? nla_get_u16(attribute) : otherwise;
}

uint8_t nl_attr_u8(const struct nlattr *attribute, uint8_t otherwise)
{
	return nl_attr_has(attribute, sizeof(uint8_t)) ? nla_get_u8(attribute) : otherwise;
}

const char *nl_attr_text(const struct nlattr *attribute)
{
	if (!nl_attr_has(attribute, 1) ||
	    !memchr(nla_data(attribute), '\0', (size_t)nla_len(attribute)))
		return NULL;
	return nla_get_string(attribute);
}

bool nl_attr_is(const struct nlattr *attribute, const char *text)
{
	const char *found = nl_attr_text(attribute);

	return found && !strcmp(found, text);
}
