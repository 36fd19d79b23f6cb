/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * add-slave and del-slave: turns the words of the call into a list of devices and options for
 * bondd.
 */
#include <net/if.h>
#include <string.h>

#include "cli/base/pairs.h"
#include "common/mac.h"
#include "options/names.h"

static bool slaves_contains(const json_t *devices, const char *name)
{
	const json_t *device;
	size_t at;

	json_array_foreach (devices, at, device)
		if (!strcmp(json_string_value(device), name))
			return true;
	return false;
}

/* A slave that is waited for may be known by its MAC address only. */
static bool slaves_is_awaited_mac(const struct verb *verb, const char *name)
{
	uint8_t mac[XBOND_MAC_SIZE];

	return !verb->takes_options && !mac_parse(name, mac);
}

static enum cli_exit slaves_add_device(const struct verb *verb, json_t *devices, const char *name)
{
	struct err err;

	if (!slaves_is_awaited_mac(verb, name) && name_check("slave", name, &err))
		return cli_wrong(&err);
	if (slaves_contains(devices, name)) {
		cli_say("'%s' is given twice; name it once", name);
		return CLI_USAGE;
	}
	if (json_array_append_new(devices, json_string(name))) {
		cli_say("a slave's name is not UTF-8; rename the device");
		return CLI_USAGE;
	}
	return CLI_DONE;
}

/* A word that is meant for another verb, or as its option, unless a device has this name. */
static enum cli_exit slaves_check_word(const struct verb *verb, const char *word)
{
	const struct option_spec *option = option_find(OPTION_BOND, word);
	enum cli_exit status;

	if (if_nametoindex(word))
		return CLI_DONE;
	status = pairs_refuse_joined(verb, word);
	if (status != CLI_DONE || !option || !verb->takes_options)
		return status;
	return cli_usage(verb,
			 "'%s' is an option of a bond, not a device: 'bondctl create BOND %s "
			 "VALUE' makes a bond with it, 'bondctl set' changes one",
			 word, word);
}

/*
 * The list of devices ends at the first word that is an option of the verb; "dev NAME" takes any
 * name.
 */
static enum cli_exit slaves_take_devices(const struct verb *verb, int argc, char **argv,
					 json_t *devices, int *ret_taken)
{
	enum cli_exit status = CLI_DONE;
	int at = 0;

	for (; at < argc && status == CLI_DONE; at++) {
		const struct option_spec *option = option_find(verb->scope, argv[at]);

		if (option && cli_verb_takes(verb, option))
			break;
		if (strcmp(argv[at], "dev") != 0)
			status = slaves_check_word(verb, argv[at]);
		else if (++at == argc)
			status = cli_usage(verb, "'dev' needs a NAME");
		if (status == CLI_DONE)
			status = slaves_add_device(verb, devices, argv[at]);
	}
	*ret_taken = at;
	if (status == CLI_DONE && json_array_size(devices) == 0)
		return cli_usage(verb, "needs a DEV before the options");
	return status;
}

static enum cli_exit slaves_take_words(const struct verb *verb, int argc, char **argv,
				       json_t *devices, struct pairs *ret_pairs)
{
	enum cli_exit status;
	int taken = 0;

	status = slaves_take_devices(verb, argc - 1, argv + 1, devices, &taken);
	if (status != CLI_DONE)
		return status;
	return pairs_parse(verb, argc - 1 - taken, argv + 1 + taken, ret_pairs);
}

enum cli_exit cmd_slaves(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	json_t *devices = json_array();
	struct pairs pairs;
	enum cli_exit status;

	status = slaves_take_words(verb, argc, argv, devices, &pairs);
	if (status == CLI_DONE)
		return cli_request(cli, verb->name, argv[0], devices,
				   verb->takes_options ? pairs_json(&pairs) : NULL);
	json_decref(devices);
	return status;
}
