/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const uint8_t no_address[16];

const char *option_address_values(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? "IPV6[,IPV6]...|none" : "IPV4[,IPV4]...|none";
}

static int option_address_family(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? AF_INET6 : AF_INET;
}

size_t option_address_size(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? 16 : 4;
}

unsigned int option_address_count(const struct option_value *value)
{
	unsigned int count = 0;

	while (count < XBOND_MAX_TARGETS && memcmp(value->address[count], no_address, 16))
		count++;
	return count;
}

const char *option_address_at(const struct option_spec *option, const struct option_value *value,
			      unsigned int i, char ret_text[OPTION_ADDRESS_SIZE])
{
	inet_ntop(option_address_family(option), value->address[i], ret_text, OPTION_ADDRESS_SIZE);
	return ret_text;
}

const char *option_address_why_not(int family, const uint8_t address[16])
{
	struct in6_addr in6;

	memcpy(&in6, address, sizeof(in6));
	if (!memcmp(address, no_address, 16))
		return "the address of no host";
	if (family == AF_INET6)
		return IN6_IS_ADDR_MULTICAST(&in6)  ? "a multicast address"
		       : IN6_IS_ADDR_LOOPBACK(&in6) ? "a loopback address"
						    : NULL;
	if (address[0] == 127)
		return "a loopback address";
	if (address[0] == 0)
		return "the address of no host";
	if (address[0] == 255 && address[1] == 255 && address[2] == 255 && address[3] == 255)
		return "the broadcast address";
	return address[0] >> 4 == 0xe ? "a multicast address" : NULL;
}

static int option_address_add_one(const struct option_spec *option, const char *text,
				  struct option_value *value, struct err *err)
{
	unsigned int count = option_address_count(value);
	uint8_t address[16] = { 0 };
	const char *why;

	if (inet_pton(option_address_family(option), text, address) != 1)
		return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", option->name,
			       text, option_address_values(option));
	why = option_address_why_not(option_address_family(option), address);
	if (why)
		return err_set(err, EINVAL, "%s: %s is %s, which nobody answers for; allowed: %s",
			       option->name, text, why, option_address_values(option));
	for (unsigned int i = 0; i < count; i++)
		if (!memcmp(value->address[i], address, sizeof(address)))
			return err_set(err, EINVAL, "%s: %s is given twice; allowed: %s",
				       option->name, text, option_address_values(option));
	if (count == XBOND_MAX_TARGETS)
		return err_set(err, EINVAL, "%s: %s is one too many; allowed: %s, at most %d",
			       option->name, text, option_address_values(option),
			       XBOND_MAX_TARGETS);
	memcpy(value->address[count], address, sizeof(address));
	return 0;
}

int option_address_add(const struct option_spec *option, const char *text,
		       struct option_value *value, struct err *err)
{
	int r = 0;

	if (!strcmp(text, "none"))
		return 0;
	for (const char *at = text, *next; !r; at = next + 1) {
		char one[OPTION_ADDRESS_SIZE];

		next = at + strcspn(at, ",");
		snprintf(one, sizeof(one), "%.*s", (int)(next - at), at);
		r = option_address_add_one(option, one, value, err);
		if (!*next)
			break;
	}
	return r;
}

void option_address_format(const struct option_spec *option, const struct option_value *value,
			   char *ret_text, size_t size)
{
	unsigned int count = option_address_count(value);
	char one[OPTION_ADDRESS_SIZE];
	size_t used = 0;

	if (!count)
		snprintf(ret_text, size, "none");
	for (unsigned int i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(ret_text + used, size - used, "%s%s", i ? "," : "",
					 option_address_at(option, value, i, one));
}
