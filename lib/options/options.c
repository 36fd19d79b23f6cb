/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses and prints values by the option table (option_table.c). Called by bondctl (command line,
 * help, JSON, save) and by bondd (requests, configuration file).
 */
#include "options/options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/mac.h"
#include "common/mode.h"
#include "options/names.h"
#include "options/option_set.h"

#define OPTION_HOST_VALUES "IPV4|IPV6|none"

/* Values that are one IP address, of either family. */

/* "none" clears. Returns -EINVAL, with a line in err, for what is no address of a host. */
static int option_host_parse(const struct option_spec *option, const char *text,
			     struct xbond_address *ret_host, struct err *err)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	const char *why;

	if (!strcmp(text, "none"))
		return 0;
	if (inet_pton(family, text, ret_host->bytes) != 1)
		return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", option->name,
			       text, OPTION_HOST_VALUES);
	why = option_address_why_not(family, ret_host->bytes);
	if (why)
		return err_set(err, EINVAL, "%s: %s is %s; allowed: %s", option->name, text, why,
			       OPTION_HOST_VALUES);
	ret_host->family = (__u32)family;
	return 0;
}

static void option_host_format(const struct xbond_address *host, char *ret_text, size_t size)
{
	bool known = host->family == AF_INET || host->family == AF_INET6;

	if (!known || !inet_ntop((int)host->family, host->bytes, ret_text, (socklen_t)size))
		snprintf(ret_text, size, "none");
}

const struct option_spec *option_find(enum option_scope scope, const char *name)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (option_at(id)->scope == scope && !strcmp(option_at(id)->name, name))
			return option_at(id);
	return NULL;
}

/*
 * Accepts digits only; strtoull alone would take signs, white space and anything after the number.
 */
static bool option_parse_number(const char *text, uint32_t *ret_number)
{
	unsigned long long number;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	number = strtoull(text, NULL, 10);
	if (errno || number > UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

static bool option_parse_signed(const char *text, uint32_t *ret_number)
{
	bool negative = *text == '-';
	uint32_t number;

	if (!option_parse_number(text + negative, &number) ||
	    number > (uint32_t)INT32_MAX + negative)
		return false;
	*ret_number = negative ? -number : number;
	return true;
}

static bool option_name_of_mode(unsigned int i, struct option_name *ret_name)
{
	const struct mode *mode = mode_at(i);

	if (mode)
		*ret_name = (struct option_name){ mode->name, mode->number };
	return mode;
}

bool option_name_at(const struct option_spec *option, unsigned int i, struct option_name *ret_name)
{
	if (option->id == OPT_MODE)
		return option_name_of_mode(i, ret_name);
	for (const struct option_name *name = option->names; name && name->name; name++)
		if (!i--) {
			*ret_name = *name;
			return true;
		}
	return false;
}

static bool option_number_by_name(const struct option_spec *option, const char *text,
				  uint32_t *ret_number)
{
	struct option_name name;

	for (unsigned int i = 0; option_name_at(option, i, &name); i++)
		if (!strcmp(name.name, text)) {
			*ret_number = name.number;
			return true;
		}
	return false;
}

const char *option_name_by_number(const struct option_spec *option, uint32_t number)
{
	struct option_name name;

	for (unsigned int i = 0; option_name_at(option, i, &name); i++)
		if (name.number == number)
			return name.name;
	return NULL;
}

/* Returns the length. */
static size_t option_list_names(const struct option_spec *option, char ret_text[OPTION_VALUES_SIZE])
{
	struct option_name name;
	size_t used = 0;

	for (unsigned int i = 0; option_name_at(option, i, &name) && used < OPTION_VALUES_SIZE; i++)
		used += (size_t)snprintf(ret_text + used, OPTION_VALUES_SIZE - used, "%s%s",
					 used ? "|" : "", name.name);
	return used < OPTION_VALUES_SIZE ? used : OPTION_VALUES_SIZE - 1;
}

static void option_list_numbers(const struct option_spec *option, char ret_text[OPTION_VALUES_SIZE])
{
	size_t used = option_list_names(option, ret_text);

	snprintf(ret_text + used, OPTION_VALUES_SIZE - used, "%s%s%s%u..%u", used ? "|" : "",
		 option->word ? option->word : "", option->word ? "|" : "", option->min,
		 option->max);
}

const char *option_values(const struct option_spec *option, char ret_text[OPTION_VALUES_SIZE])
{
	const char *fixed = NULL;

	switch (option->type) {
	case OPTION_ENUM: option_list_names(option, ret_text); break;
	case OPTION_UINT: option_list_numbers(option, ret_text); break;
	case OPTION_INT: fixed = "-2147483648..2147483647"; break;
	case OPTION_BOOL: fixed = strcmp(option->initial, "no") ? "on|off" : "yes|no"; break;
	case OPTION_IFNAME: fixed = "DEV|none"; break;
	case OPTION_MAC: fixed = "MAC|none"; break;
	case OPTION_ADDRESS: fixed = OPTION_HOST_VALUES; break;
	case OPTION_IPV4_LIST:
	case OPTION_IPV6_LIST: fixed = option_address_values(option); break;
	}
	if (fixed)
		snprintf(ret_text, OPTION_VALUES_SIZE, "%s", fixed);
	return ret_text;
}

static int option_refuse(const struct option_spec *option, const char *text, struct err *err)
{
	char values[OPTION_VALUES_SIZE];

	return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", option->name, text,
		       option_values(option, values));
}

static int option_parse_enum(const struct option_spec *option, const char *text,
			     uint32_t *ret_number, struct err *err)
{
	if (option_number_by_name(option, text, ret_number))
		return 0;
	if (option_parse_number(text, ret_number) && option_name_by_number(option, *ret_number))
		return 0;
	return option_refuse(option, text, err);
}

static int option_parse_uint(const struct option_spec *option, const char *text,
			     uint32_t *ret_number, struct err *err)
{
	char values[OPTION_VALUES_SIZE];
	uint32_t number;

	if (option_number_by_name(option, text, ret_number))
		return 0;
	if (!option_parse_number(text, &number))
		return option_refuse(option, text, err);
	if (option->id == OPT_MIIMON && number == 0)
		return err_set(err, EINVAL,
			       "miimon: 0 is refused, because polling carrier is the safety net "
			       "under link events; allowed: %s",
			       option_values(option, values));
	if (number < option->min || number > option->max)
		return option_refuse(option, text, err);
	*ret_number = number;
	return 0;
}

static int option_parse_int(const struct option_spec *option, const char *text,
			    uint32_t *ret_number, struct err *err)
{
	return option_parse_signed(text, ret_number) ? 0 : option_refuse(option, text, err);
}

static int option_parse_bool(const struct option_spec *option, const char *text,
			     uint32_t *ret_number, struct err *err)
{
	static const struct option_name words[] = {
		{ "on", 1 }, { "off", 0 }, { "yes", 1 }, { "no", 0 }, { "1", 1 }, { "0", 0 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, text))
			continue;
		*ret_number = words[i].number;
		return 0;
	}
	return option_refuse(option, text, err);
}

static int option_parse_ifname(const struct option_spec *option, const char *text, char *ret_name,
			       struct err *err)
{
	char values[OPTION_VALUES_SIZE];
	uint8_t mac[XBOND_MAC_SIZE];
	struct err why;

	if (!*text || !strcmp(text, "none"))
		return 0;
	if (!mac_parse(text, mac))
		return err_set(err, EINVAL, "%s: %s is a MAC address; allowed: %s%s", option->name,
			       text, option_values(option, values),
			       option->id == OPT_PRIMARY
				       ? " (or give its section [slave MAC] the highest prio)"
				       : "");
	if (name_check("slave", text, &why))
		return err_set(err, EINVAL, "%s: %s; allowed: %s", option->name, why.text,
			       option_values(option, values));
	memcpy(ret_name, text, strlen(text) + 1);
	return 0;
}

static int option_parse_mac(const struct option_spec *option, const char *text, uint8_t *ret_mac,
			    struct err *err)
{
	char values[OPTION_VALUES_SIZE];

	if (!strcmp(text, "none"))
		return 0;
	if (mac_parse(text, ret_mac))
		return option_refuse(option, text, err);
	if (ret_mac[0] & 1)
		return err_set(
			err, EINVAL,
			"%s: '%s' is a multicast address, which no system can have; allowed: %s",
			option->name, text, option_values(option, values));
	return 0;
}

static int option_random_number(const struct option_spec *option, uint32_t *ret_number,
				struct err *err)
{
	if (getrandom(ret_number, sizeof(*ret_number), 0) != sizeof(*ret_number))
		return err_set(err, EINVAL,
			       "%s: cannot get a random number from the kernel (%m); give a number",
			       option->name);
	return 0;
}

int option_parse(const struct option_spec *option, const char *text, struct option_value *ret_value,
		 struct err *err)
{
	memset(ret_value, 0, sizeof(*ret_value));
	if (option->id == OPT_HASH_SEED && !strcmp(text, "random")) {
		ret_value->is_drawn = true;
		return option_random_number(option, &ret_value->number, err);
	}

	switch (option->type) {
	case OPTION_ENUM: return option_parse_enum(option, text, &ret_value->number, err);
	case OPTION_UINT: return option_parse_uint(option, text, &ret_value->number, err);
	case OPTION_INT: return option_parse_int(option, text, &ret_value->number, err);
	case OPTION_BOOL: return option_parse_bool(option, text, &ret_value->number, err);
	case OPTION_IFNAME: return option_parse_ifname(option, text, ret_value->name, err);
	case OPTION_MAC: return option_parse_mac(option, text, ret_value->mac, err);
	case OPTION_ADDRESS: return option_host_parse(option, text, &ret_value->host, err);
	case OPTION_IPV4_LIST:
	case OPTION_IPV6_LIST: return option_address_add(option, text, ret_value, err);
	}
	return option_refuse(option, text, err);
}

void option_format(const struct option_spec *option, const struct option_value *value,
		   char *ret_text, size_t size)
{
	const char *name = option_name_by_number(option, value->number);
	char mac[MAC_FORMAT_SIZE];

	if (option->type == OPTION_IFNAME)
		snprintf(ret_text, size, "%s", value->name[0] ? value->name : "none");
	else if (option_is_list(option))
		option_address_format(option, value, ret_text, size);
	else if (option->type == OPTION_ADDRESS)
		option_host_format(&value->host, ret_text, size);
	else if (option->type == OPTION_MAC && mac_is_zero(value->mac))
		snprintf(ret_text, size, "none");
	else if (option->type == OPTION_MAC)
		snprintf(ret_text, size, "%s", mac_format(value->mac, mac));
	else if (option->type == OPTION_BOOL)
		snprintf(ret_text, size, "%s", value->number ? "on" : "off");
	else if (option->type == OPTION_INT)
		snprintf(ret_text, size, "%d", (int32_t)value->number);
	else if (name)
		snprintf(ret_text, size, "%s", name);
	else
		snprintf(ret_text, size, "%u", value->number);
}

struct option_value option_initial(const struct option_spec *option)
{
	struct option_value value;

	option_parse(option, option->initial, &value, NULL);
	return value;
}

bool option_is_default(const struct option_spec *option, const struct option_value *value)
{
	struct option_value initial = option_initial(option);

	return option->id == OPT_HASH_SEED || option_value_is_same(value, &initial);
}

bool option_value_is_same(const struct option_value *a, const struct option_value *b)
{
	return a->number == b->number && !strcmp(a->name, b->name) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac)) &&
	       !memcmp(&a->host, &b->host, sizeof(a->host)) &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

bool option_is_of_mode(const struct option_spec *option, uint32_t mode)
{
	return mode_find(mode) && (!option->needs || mode_has(mode, option->needs));
}

bool option_has_effect(const struct option_spec *option, uint32_t mode)
{
	return option_is_of_mode(option, mode) &&
	       (!option->effect || mode_has(mode, option->effect));
}

void option_list_modes(const struct option_spec *option, option_of_mode *of_mode,
		       char ret_text[OPTION_MODES_SIZE])
{
	char modes[OPTION_MODES_SIZE - sizeof("modes ")] = "";
	const struct mode *mode;
	size_t used = 0;

	for (unsigned int i = 0; (mode = mode_at(i)) && used < sizeof(modes); i++)
		if (of_mode(option, mode->number))
			used += (size_t)snprintf(modes + used, sizeof(modes) - used, "%s%s",
						 used ? ", " : "", mode->name);
	snprintf(ret_text, OPTION_MODES_SIZE, "mode%s %s", strchr(modes, ',') ? "s" : "", modes);
}

int option_check_mode(const struct option_spec *option, uint32_t mode, struct err *err)
{
	char modes[OPTION_MODES_SIZE];

	if (option_is_of_mode(option, mode))
		return 0;
	option_list_modes(option, option_is_of_mode, modes);
	return err_set(err, EACCES, "%s: refused in mode %s; it is an option of %s only",
		       option->name, mode_name(mode), modes);
}
