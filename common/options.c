/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser and formatter that work by the option table (option_table.c). Called by
 * bondctl (command line, help, JSON, save) and bondd (requests, configuration file).
 */
#include "common/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/mac.h"
#include "common/names.h"

/*
 * What the kernel has and this version has not, so that the user is told so and not that it is a
 * typing error.
 */
static const struct {
	enum option_id id;
	struct option_name name;
} unbuilt[] = {
	{ OPT_MODE, { "balance-tlb", 5 } },
	{ OPT_MODE, { "balance-alb", 6 } },
};

/* 0 for a number that is no mode: maps are read back from the kernel. */
static uint32_t mode_bit(uint32_t mode)
{
	return mode < 32 ? 1u << mode : 0;
}

/* Digits only: strtoull alone would take signs, white space and the rest of the line. */
static bool parse_number(const char *text, uint32_t *ret_number)
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

static const struct option_name *name_by_text(const struct option *option, const char *text)
{
	for (const struct option_name *name = option->names; name && name->name; name++)
		if (!strcmp(name->name, text))
			return name;
	return NULL;
}

static const struct option_name *name_by_number(const struct option *option, uint32_t number)
{
	for (const struct option_name *name = option->names; name && name->name; name++)
		if (name->number == number)
			return name;
	return NULL;
}

static bool is_unbuilt(enum option_id id, const char *text)
{
	uint32_t number;
	bool numeric = parse_number(text, &number);

	for (size_t i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++) {
		if (unbuilt[i].id != id)
			continue;
		if (numeric ? unbuilt[i].name.number == number
			    : !strcmp(unbuilt[i].name.name, text))
			return true;
	}
	return false;
}

static int refuse(const struct option *option, const char *text, struct err *err)
{
	const char *why = is_unbuilt(option->id, text) ? "supported by this version" : "allowed";

	return err_set(err, EINVAL, "%s: '%s' is not %s; allowed: %s", option->name, text, why,
		       option->values);
}

static int parse_enum(const struct option *option, const char *text, uint32_t *ret_number,
		      struct err *err)
{
	const struct option_name *name = name_by_text(option, text);
	uint32_t number;

	if (!name && parse_number(text, &number))
		name = name_by_number(option, number);
	if (!name)
		return refuse(option, text, err);
	*ret_number = name->number;
	return 0;
}

static int parse_uint(const struct option *option, const char *text, uint32_t *ret_number,
		      struct err *err)
{
	const struct option_name *name = name_by_text(option, text);
	uint32_t number;

	if (name) {
		*ret_number = name->number;
		return 0;
	}
	if (!parse_number(text, &number))
		return refuse(option, text, err);
	if (option->id == OPT_MIIMON && number == 0)
		return err_set(err, EINVAL,
			       "miimon: 0 is refused, because polling carrier is the safety net "
			       "under link events; "
			       "allowed: %s",
			       option->values);
	if (number < option->min || number > option->max)
		return refuse(option, text, err);
	*ret_number = number;
	return 0;
}

static int parse_bool(const struct option *option, const char *text, uint32_t *ret_number,
		      struct err *err)
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
	return refuse(option, text, err);
}

static int parse_ifname(const struct option *option, const char *text, char *ret_name,
			struct err *err)
{
	struct err why;

	if (!*text || !strcmp(text, "none"))
		return 0;
	if (name_check("slave", text, &why))
		return err_set(err, EINVAL, "%s: %s; allowed: %s", option->name, why.text,
			       option->values);
	memcpy(ret_name, text, strlen(text));
	return 0;
}

static int parse_mac(const struct option *option, const char *text, uint8_t *ret_mac,
		     struct err *err)
{
	if (!strcmp(text, "none"))
		return 0;
	if (mac_parse(text, ret_mac))
		return refuse(option, text, err);
	if (ret_mac[0] & 1)
		return err_set(err, EINVAL,
			       "%s: '%s' is a multicast address and no system's; allowed: %s",
			       option->name, text, option->values);
	return 0;
}

static int random_number(const struct option *option, uint32_t *ret_number, struct err *err)
{
	if (getrandom(ret_number, sizeof(*ret_number), 0) != sizeof(*ret_number))
		return err_set(err, EINVAL,
			       "%s: the kernel gave no random number (%m); give a number",
			       option->name);
	return 0;
}

int option_parse(const struct option *option, const char *text, struct option_value *ret_value,
		 struct err *err)
{
	memset(ret_value, 0, sizeof(*ret_value));
	if (option->id == OPT_HASH_SEED && !strcmp(text, "random"))
		return random_number(option, &ret_value->number, err);

	switch (option->type) {
	case OPTION_ENUM: return parse_enum(option, text, &ret_value->number, err);
	case OPTION_UINT: return parse_uint(option, text, &ret_value->number, err);
	case OPTION_BOOL: return parse_bool(option, text, &ret_value->number, err);
	case OPTION_IFNAME: return parse_ifname(option, text, ret_value->name, err);
	case OPTION_MAC: return parse_mac(option, text, ret_value->mac, err);
	}
	return refuse(option, text, err);
}

void option_format(const struct option *option, const struct option_value *value, char *ret_text,
		   size_t size)
{
	const struct option_name *name = name_by_number(option, value->number);
	char mac[MAC_FORMAT_SIZE];

	if (option->type == OPTION_IFNAME)
		snprintf(ret_text, size, "%s", value->name[0] ? value->name : "none");
	else if (option->type == OPTION_MAC && mac_is_zero(value->mac))
		snprintf(ret_text, size, "none");
	else if (option->type == OPTION_MAC)
		snprintf(ret_text, size, "%s", mac_format(value->mac, mac));
	else if (option->type == OPTION_BOOL)
		snprintf(ret_text, size, "%s", value->number ? "on" : "off");
	else if (name)
		snprintf(ret_text, size, "%s", name->name);
	else
		snprintf(ret_text, size, "%u", value->number);
}

bool option_is_default(const struct option *option, const struct option_value *value)
{
	struct option_value initial;

	if (option->id == OPT_HASH_SEED)
		return true;
	if (option_parse(option, option->initial, &initial, NULL))
		return false;
	return value->number == initial.number && !strcmp(value->name, initial.name) &&
	       !memcmp(value->mac, initial.mac, sizeof(value->mac));
}

static void list_modes(uint32_t modes, char *ret_text, size_t size)
{
	size_t used = 0;

	ret_text[0] = '\0';
	for (const struct option_name *mode = option_at(OPT_MODE)->names; mode->name && used < size;
	     mode++)
		if (modes & mode_bit(mode->number))
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 used ? ", " : "", mode->name);
}

int option_check_mode(const struct option *option, uint32_t mode, struct err *err)
{
	char modes[128];

	if (option->modes & mode_bit(mode))
		return 0;
	list_modes(option->modes, modes, sizeof(modes));
	return err_set(err, EACCES, "%s: refused in mode %s; it is an option of mode %s only",
		       option->name, option_mode_name(mode), modes);
}

int option_check_set(const struct option *option, struct err *err)
{
	if (!option->at_create)
		return 0;
	return err_set(err, EBUSY,
		       "%s: can be chosen only at create; delete the bond and create it again",
		       option->name);
}

bool option_has_effect(const struct option *option, uint32_t mode)
{
	return option->effect_modes & mode_bit(mode);
}

const char *option_mode_name(uint32_t mode)
{
	const struct option_name *name = name_by_number(option_at(OPT_MODE), mode);

	return name ? name->name : "unknown";
}
