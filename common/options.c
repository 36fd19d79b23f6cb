/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option table and the parser and formatter that work by it. Called by bondctl
 * (command line, help, JSON, save) and bondd (requests, configuration file). Knows
 * where a value lives in the maps, and nothing of maps, sockets or files.
 */
#include "common/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/names.h"

#define RR (1u << XBOND_MODE_BALANCE_RR)
#define ACTIVE_BACKUP (1u << XBOND_MODE_ACTIVE_BACKUP)
#define XOR (1u << XBOND_MODE_BALANCE_XOR)
#define BROADCAST (1u << XBOND_MODE_BROADCAST)
#define ALL_MODES (RR | ACTIVE_BACKUP | XOR | BROADCAST)

#define IN_SETTINGS(field) .home = OPTION_IN_SETTINGS, .offset = offsetof(struct xbond_settings, field)
#define IN_BOND(field) .home = OPTION_IN_BOND, .offset = offsetof(struct xbond_bond, field)

#define KERNEL_INT_MAX 2147483647u

static const struct option_name mode_names[] = {
	{ "balance-rr", XBOND_MODE_BALANCE_RR },
	{ "active-backup", XBOND_MODE_ACTIVE_BACKUP },
	{ "balance-xor", XBOND_MODE_BALANCE_XOR },
	{ "broadcast", XBOND_MODE_BROADCAST },
	{ NULL, 0 },
};

static const struct option_name path_names[] = {
	{ "counted", XBOND_PATH_COUNTED },
	{ "pair", XBOND_PATH_COUNTED },
	{ "direct", XBOND_PATH_DIRECT },
	{ NULL, 0 },
};

static const struct option_name policy_names[] = {
	{ "layer2", XBOND_POLICY_LAYER2 },
	{ "layer3+4", XBOND_POLICY_LAYER34 },
	{ "layer2+3", XBOND_POLICY_LAYER23 },
	{ "vlan+srcmac", XBOND_POLICY_VLAN_SRCMAC },
	{ NULL, 0 },
};

static const struct option_name mac_policy_names[] = {
	{ "set", XBOND_MAC_SET },
	{ "filter", XBOND_MAC_FILTER },
	{ NULL, 0 },
};

static const struct option_name weight_names[] = {
	{ "auto", 0 },
	{ NULL, 0 },
};

/* What the kernel has and this version has not, so that the user is told so and not that it is a typing error. */
static const struct {
	enum option_id id;
	struct option_name name;
} unbuilt[] = {
	{ OPT_MODE, { "802.3ad", 4 } },
	{ OPT_MODE, { "balance-tlb", 5 } },
	{ OPT_MODE, { "balance-alb", 6 } },
	{ OPT_XMIT_HASH_POLICY, { "encap2+3", 3 } },
	{ OPT_XMIT_HASH_POLICY, { "encap3+4", 4 } },
};

static const struct option options[OPT_COUNT] = {
	[OPT_MODE] = {
		.id = OPT_MODE,
		.name = "mode",
		.scope = OPTION_BOND,
		.type = OPTION_ENUM,
		IN_BOND(mode),
		.names = mode_names,
		.initial = "balance-rr",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "balance-rr|active-backup|balance-xor|broadcast",
		.help = "how the bond uses its slaves",
	},
	[OPT_PATH] = {
		.id = OPT_PATH,
		.name = "path",
		.scope = OPTION_BOND,
		.type = OPTION_ENUM,
		IN_SETTINGS(path),
		.names = path_names,
		.initial = "counted",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "counted|direct",
		.help = "counted: the device's own counters are exact; direct: fastest",
	},
	[OPT_XMIT_HASH_POLICY] = {
		.id = OPT_XMIT_HASH_POLICY,
		.name = "xmit_hash_policy",
		.scope = OPTION_BOND,
		.type = OPTION_ENUM,
		IN_SETTINGS(xmit_hash_policy),
		.names = policy_names,
		.initial = "layer2",
		.modes = ALL_MODES,
		.effect_modes = XOR,
		.values = "layer2|layer3+4|layer2+3|vlan+srcmac",
		.help = "which fields of a packet decide its slave",
	},
	[OPT_PACKETS_PER_SLAVE] = {
		.id = OPT_PACKETS_PER_SLAVE,
		.name = "packets_per_slave",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_SETTINGS(packets_per_slave),
		.max = 65535,
		.initial = "1",
		.modes = RR,
		.effect_modes = RR,
		.values = "0..65535",
		.help = "packets before the next slave's turn; 0: a random slave for each packet",
	},
	[OPT_BYTES_PER_SLAVE] = {
		.id = OPT_BYTES_PER_SLAVE,
		.name = "bytes_per_slave",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_SETTINGS(bytes_per_slave),
		.max = KERNEL_INT_MAX,
		.initial = "0",
		.modes = RR,
		.effect_modes = RR,
		.values = "0..2147483647",
		.help = "bytes before the next slave's turn, wins over packets_per_slave; 0: off",
	},
	[OPT_PRIMARY] = {
		.id = OPT_PRIMARY,
		.name = "primary",
		.scope = OPTION_BOND,
		.type = OPTION_IFNAME,
		IN_BOND(primary),
		.initial = "none",
		.modes = ACTIVE_BACKUP,
		.effect_modes = ACTIVE_BACKUP,
		.values = "DEV|none",
		.help = "the slave that is active whenever it can be",
	},
	[OPT_ACTIVE_SLAVE] = {
		.id = OPT_ACTIVE_SLAVE,
		.name = "active_slave",
		.scope = OPTION_BOND,
		.type = OPTION_IFNAME,
		IN_SETTINGS(active_slot),
		.initial = "none",
		.modes = ACTIVE_BACKUP,
		.effect_modes = ACTIVE_BACKUP,
		.values = "DEV|none",
		.help = "the slave to use from the next packet on",
	},
	[OPT_ALL_SLAVES_ACTIVE] = {
		.id = OPT_ALL_SLAVES_ACTIVE,
		.name = "all_slaves_active",
		.scope = OPTION_BOND,
		.type = OPTION_BOOL,
		IN_BOND(all_slaves_active),
		.initial = "off",
		.modes = ALL_MODES,
		.effect_modes = ACTIVE_BACKUP,
		.values = "on|off",
		.help = "accept frames that arrive on slaves that are not active",
	},
	[OPT_MIN_LINKS] = {
		.id = OPT_MIN_LINKS,
		.name = "min_links",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(min_links),
		.max = XBOND_MAX_SLAVES,
		.initial = "0",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "0..64",
		.help = "slaves with link that the bond needs to have carrier; 0 is the same as 1",
	},
	[OPT_MIIMON] = {
		.id = OPT_MIIMON,
		.name = "miimon",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(miimon_ms),
		.min = 1,
		.max = KERNEL_INT_MAX,
		.initial = "100",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "1..2147483647",
		.help = "milliseconds between two polls of carrier, the safety net under link events",
	},
	[OPT_UPDELAY] = {
		.id = OPT_UPDELAY,
		.name = "updelay",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(updelay_ms),
		.max = KERNEL_INT_MAX,
		.initial = "0",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "0..2147483647",
		.help = "milliseconds that carrier must have been back before a slave is used",
	},
	[OPT_DOWNDELAY] = {
		.id = OPT_DOWNDELAY,
		.name = "downdelay",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(downdelay_ms),
		.max = KERNEL_INT_MAX,
		.initial = "0",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "0..2147483647",
		.help = "milliseconds that carrier must have been gone before a slave counts as down",
	},
	[OPT_MAC_POLICY] = {
		.id = OPT_MAC_POLICY,
		.name = "mac_policy",
		.scope = OPTION_BOND,
		.type = OPTION_ENUM,
		IN_BOND(mac_policy),
		.names = mac_policy_names,
		.initial = "set",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "set|filter",
		.help = "set: slaves get the bond's MAC; filter: they keep theirs and also accept the bond's",
	},
	[OPT_HASH_SEED] = {
		.id = OPT_HASH_SEED,
		.name = "hash_seed",
		.scope = OPTION_BOND,
		.type = OPTION_UINT,
		IN_BOND(hash_seed),
		.max = UINT32_MAX,
		.initial = "random",
		.modes = ALL_MODES,
		.effect_modes = XOR,
		.values = "random|0..4294967295",
		.help = "seed of the hash, so that two bonds in a row choose differently",
	},
	[OPT_WEIGHT] = {
		.id = OPT_WEIGHT,
		.name = "weight",
		.scope = OPTION_SLAVE,
		.type = OPTION_UINT,
		IN_SETTINGS(weight),
		.names = weight_names,
		.min = 1,
		.max = 65535,
		.initial = "auto",
		.modes = ALL_MODES,
		.effect_modes = RR | XOR,
		.values = "auto|1..65535",
		.help = "share of the traffic; auto: by link speed, equal if a speed is unknown",
	},
	[OPT_DRAIN] = {
		.id = OPT_DRAIN,
		.name = "drain",
		.scope = OPTION_SLAVE,
		.type = OPTION_BOOL,
		IN_SETTINGS(drain_mask),
		.initial = "off",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "on|off",
		.help = "carry traffic only when no other slave can",
	},
	[OPT_FORCE] = {
		.id = OPT_FORCE,
		.name = "force",
		.scope = OPTION_SLAVE,
		.type = OPTION_BOOL,
		.home = OPTION_NOWHERE,
		.initial = "no",
		.modes = ALL_MODES,
		.effect_modes = ALL_MODES,
		.values = "yes|no",
		.help = "add the slave although it has IP addresses, which are removed",
	},
};

const struct option *option_at(enum option_id id)
{
	return &options[id];
}

const struct option *option_find(enum option_scope scope, const char *name)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (options[id].scope == scope && !strcmp(options[id].name, name))
			return &options[id];
	return NULL;
}

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
		if (numeric ? unbuilt[i].name.number == number : !strcmp(unbuilt[i].name.name, text))
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

static int parse_enum(const struct option *option, const char *text, uint32_t *ret_number, struct err *err)
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

static int parse_uint(const struct option *option, const char *text, uint32_t *ret_number, struct err *err)
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
		return err_set(
			err, EINVAL,
			"miimon: 0 is refused, because polling carrier is the safety net under link events; "
			"allowed: %s",
			option->values);
	if (number < option->min || number > option->max)
		return refuse(option, text, err);
	*ret_number = number;
	return 0;
}

static int parse_bool(const struct option *option, const char *text, uint32_t *ret_number, struct err *err)
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

static int parse_ifname(const struct option *option, const char *text, char *ret_name, struct err *err)
{
	struct err why;

	if (!*text || !strcmp(text, "none"))
		return 0;
	if (name_check("slave", text, &why))
		return err_set(err, EINVAL, "%s: %s; allowed: %s", option->name, why.text, option->values);
	memcpy(ret_name, text, strlen(text));
	return 0;
}

static int random_number(const struct option *option, uint32_t *ret_number, struct err *err)
{
	if (getrandom(ret_number, sizeof(*ret_number), 0) != sizeof(*ret_number))
		return err_set(err, EINVAL, "%s: the kernel gave no random number (%m); give a number",
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
	}
	return refuse(option, text, err);
}

void option_format(const struct option *option, const struct option_value *value, char *ret_text, size_t size)
{
	const struct option_name *name = name_by_number(option, value->number);

	if (option->type == OPTION_IFNAME)
		snprintf(ret_text, size, "%s", value->name[0] ? value->name : "none");
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
	return value->number == initial.number && !strcmp(value->name, initial.name);
}

static void list_modes(uint32_t modes, char *ret_text, size_t size)
{
	size_t used = 0;

	ret_text[0] = '\0';
	for (const struct option_name *mode = mode_names; mode->name && used < size; mode++)
		if (modes & mode_bit(mode->number))
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s", used ? ", " : "",
						 mode->name);
}

int option_check_mode(const struct option *option, uint32_t mode, struct err *err)
{
	char modes[128];

	if (option->modes & mode_bit(mode))
		return 0;
	list_modes(option->modes, modes, sizeof(modes));
	return err_set(err, EACCES, "%s: refused in mode %s; it is an option of mode %s only", option->name,
		       option_mode_name(mode), modes);
}

bool option_has_effect(const struct option *option, uint32_t mode)
{
	return option->effect_modes & mode_bit(mode);
}

const char *option_mode_name(uint32_t mode)
{
	const struct option_name *name = name_by_number(&options[OPT_MODE], mode);

	return name ? name->name : "unknown";
}
