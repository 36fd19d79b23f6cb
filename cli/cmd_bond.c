/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs that change a bond: create and delete, add-slave and del-slave, set and set-slave,
 * takeover and handback. All words are checked before anything is sent or written.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "common/mac.h"
#include "options/names.h"
#include "options/option_set.h"
#include "view/view_bond.h"

/* OPTION VALUE pairs, parsed by the option table. Knows nothing of bondd and maps. */

struct pairs {
	struct option_set set;
	const char *text[OPT_COUNT]; /* as given */
};

/* "mode=4", as module parameters and other tools have it. */
static bool pairs_is_joined(enum option_scope scope, const char *word)
{
	char name[32];
	size_t length = strcspn(word, "=");

	if (!word[length] || length >= sizeof(name))
		return false;
	memcpy(name, word, length);
	name[length] = '\0';
	return option_find(scope, name);
}

/* Says how to write "mode=4", and returns CLI_USAGE. CLI_DONE: it is not an option with '='. */
static enum cli_exit pairs_refuse_joined(const struct verb *verb, const char *word)
{
	int length = (int)strcspn(word, "=");

	if (!pairs_is_joined(OPTION_BOND, word) && !pairs_is_joined(OPTION_SLAVE, word))
		return CLI_DONE;
	return cli_usage(verb, "'%s': write '%.*s %s'", word, length, word,
			 word[length + 1] ? word + length + 1 : "VALUE");
}

static enum cli_exit pairs_unknown(const struct verb *verb, const char *name)
{
	enum option_scope other = verb->scope == OPTION_BOND ? OPTION_SLAVE : OPTION_BOND;
	const struct option_spec *known = option_find(verb->scope, name);
	const char *guess = option_guess(verb->scope, name), *absent = option_absent(name);

	if (pairs_refuse_joined(verb, name))
		return CLI_USAGE;
	if (known && known->in_file)
		cli_say("%s: '%s' belongs in the bond's file (xbond.conf(5)); now, 'ip link set "
			"BOND "
			"up' does it",
			verb->name, name);
	else if (option_find(other, name))
		cli_say("%s: '%s' is an option of a %s; set it with '%s'", verb->name, name,
			other == OPTION_BOND ? "bond" : "slave",
			other == OPTION_BOND ? "bondctl set" : "bondctl set-slave");
	else if (known)
		cli_say("%s: '%s' is not accepted here; see 'bondctl %s --help'", verb->name, name,
			verb->name);
	else if (absent)
		cli_say("%s: unknown option '%s': %s", verb->name, name, absent);
	else if (verb->scope == OPTION_BOND && if_nametoindex(name))
		cli_say("%s: unknown option '%s'; %s", verb->name, name,
			verb->run == cmd_set ? "'bondctl set-slave' changes options of a slave"
					     : "slaves are added by 'bondctl add-slave', when the "
					       "bond is there");
	else if (guess)
		cli_say("%s: unknown option '%s'; did you mean %s?", verb->name, name, guess);
	else
		cli_say("%s: unknown option '%s'; 'bondctl %s --help' lists the options",
			verb->name, name, verb->name);
	return CLI_USAGE;
}

/* text: NULL if it is missing */
static enum cli_exit pairs_take(const struct verb *verb, const char *name, const char *text,
				struct pairs *pairs)
{
	const struct option_spec *option = option_find(verb->scope, name);
	struct err err;

	if (!option || !cli_verb_takes(verb, option))
		return pairs_unknown(verb, name);
	if (pairs->set.given[option->id]) {
		cli_say("%s: given twice; name it once", name);
		return CLI_USAGE;
	}
	if (!text)
		return cli_usage(verb, "'%s' has no VALUE", name);
	if (option_set_add(&pairs->set, verb->scope, name, text, &err)) {
		option_guess_value(option, text, &err);
		return cli_wrong(&err);
	}
	pairs->text[option->id] = text;
	return CLI_DONE;
}

/* Prints what is wrong with the first bad one. */
static enum cli_exit pairs_parse(const struct verb *verb, int argc, char **argv,
				 struct pairs *ret_pairs)
{
	enum cli_exit status = CLI_DONE;

	*ret_pairs = (struct pairs){ 0 };
	for (int at = 0; at < argc && status == CLI_DONE; at += 2)
		status = pairs_take(verb, argv[at], at + 1 < argc ? argv[at + 1] : NULL, ret_pairs);
	return status;
}

/* NULL if the call does not name it. */
static const struct option_value *pairs_find(const struct pairs *pairs, enum option_id id)
{
	return pairs->set.given[id] ? &pairs->set.value[id] : NULL;
}

/* A random seed was drawn here, so what was checked is what is sent. */
static json_t *pairs_text(const struct pairs *pairs, enum option_id id)
{
	char text[OPTION_TEXT_SIZE];

	if (id != OPT_HASH_SEED)
		return json_string(pairs->text[id]);
	option_format(option_at(id), &pairs->set.value[id], text, sizeof(text));
	return json_string(text);
}

/* `active_slave none` asks bondd to choose. */
static bool pairs_is_steering(const struct pairs *pairs, enum option_id id)
{
	if (id == OPT_ACTIVE_SLAVE && !pairs->set.value[id].name[0])
		return false;
	return pairs->set.given[id] && option_at(id)->home == OPTION_IN_SETTINGS;
}

/*
 * { NAME: TEXT } in the form of the control protocol. Steering options are those in the settings
 * map.
 */
static json_t *pairs_json(const struct pairs *pairs)
{
	json_t *json = json_object();

	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs->set.given[id])
			json_object_set_new(json, option_at(id)->name, pairs_text(pairs, id));
	return json;
}

static json_t *pairs_json_not_steering(const struct pairs *pairs)
{
	json_t *json = pairs_json(pairs);

	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs_is_steering(pairs, id))
			json_object_del(json, option_at(id)->name);
	return json;
}

static bool pairs_any_steering(const struct pairs *pairs)
{
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs_is_steering(pairs, id))
			return true;
	return false;
}

/*
 * create and delete: checked here as far as that is possible without the bond, then done by bondd.
 */

enum cli_exit cmd_create(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct pairs pairs;
	enum cli_exit status;
	struct err err;

	status = pairs_parse(verb, argc - 1, argv + 1, &pairs);
	if (status != CLI_DONE)
		return status;
	if (option_set_check_mode(&pairs.set, option_initial(option_at(OPT_MODE)).number, &err))
		return cli_wrong(&err);
	return cli_request(cli, "create", argv[0], NULL, pairs_json(&pairs));
}

enum cli_exit cmd_delete(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	return cli_request(cli, "delete", argv[0], NULL, NULL);
}

/*
 * add-slave and del-slave: turns the words of the call into a list of devices and options for
 * bondd.
 */

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
		return cli_usage(verb, "name a slave before the options");
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

/*
 * set and set-slave. First all pairs are checked. Then bondd gets the options that it keeps. Then
 * the steering options are written into the settings map, where they act on the next packet, and
 * bondd is told. Without bondd the steering options still work.
 */

struct change {
	const char *bond;
	const char *slave; /* NULL for options of the bond */
	char slave_name[XBOND_NAME_SIZE];
	struct pins pins;
	struct pairs pairs;
};

static int set_check_may_transmit(const struct pins *pins, unsigned int slot, struct err *err)
{
	uint64_t bit = slots_bit(slot), may = pins->table->tx_mask,
		 drained = pins->settings->drain_mask;
	const char *name = pins->slaves[slot].name;

	if (!(may & bit))
		return err_set(err, ENETDOWN,
			       "active_slave: '%s' has no link, so it cannot transmit; choose a "
			       "slave that is up",
			       name);
	if ((drained & bit) && (may & ~drained))
		return err_set(err, EBUSY,
			       "active_slave: '%s' is drained; end that with 'set-slave ... drain "
			       "off' first",
			       name);
	return 0;
}

static int set_check_active_slave(const struct change *change, struct err *err)
{
	const struct option_value *asked = pairs_find(&change->pairs, OPT_ACTIVE_SLAVE);
	int slot;

	if (!asked || !asked->name[0])
		return 0;
	if (steer_check_slave(&change->pins, change->bond, asked->name, err))
		return -ENODEV;
	slot = pins_slot_by_name(&change->pins, asked->name);
	return set_check_may_transmit(&change->pins, (unsigned int)slot, err);
}

static int set_check(const struct change *change, struct err *err)
{
	int r;

	r = change->slave ? steer_check_slave(&change->pins, change->bond, change->slave, err) : 0;
	if (!r)
		r = option_set_check_mode(&change->pairs.set, change->pins.bond->mode, err);
	if (!r)
		r = option_set_check_device(&change->pairs.set, change->pins.bond, err);
	if (!r)
		r = set_check_active_slave(change, err);
	if (!r)
		r = steer_check(&change->pins, change->bond, err);
	return r;
}

static enum cli_exit set_send_rest(const struct cli *cli, const struct change *change)
{
	json_t *options = pairs_json_not_steering(&change->pairs);

	if (json_object_size(options) && change->slave)
		return cli_request(cli, "set-slave", change->bond, json_pack("[s]", change->slave),
				   options);
	if (json_object_size(options))
		return cli_request(cli, "set", change->bond, NULL, options);
	json_decref(options);
	return CLI_DONE;
}

/* The settings remain, whatever bondd answers. */
static void set_tell_bondd(const struct cli *cli, const struct change *change)
{
	struct err err;
	int r = steer_tell_bondd(cli->paths.run_dir, &change->pins, "refresh", change->bond, &err);

	if (r != -ENOTCONN && r != -ECONNRESET) {
		if (r)
			cli_say("set, but bondd did not apply it: %s", err.text);
		return;
	}
	if (pairs_find(&change->pairs, OPT_WEIGHT))
		cli_say(VIEW_BONDD_SILENT
			": the new weight is stored and takes effect when bondd is "
			"back");
}

static enum cli_exit set_apply(const struct cli *cli, struct change *change)
{
	enum cli_exit status;
	struct err err;

	if (set_check(change, &err))
		return cli_refuse(&err);
	status = set_send_rest(cli, change);
	if (status != CLI_DONE || !pairs_any_steering(&change->pairs))
		return status;
	if (steer_write(&change->pins, change->bond, change->slave, &change->pairs.set, &err))
		return cli_refuse(&err);
	set_tell_bondd(cli, change);
	return CLI_DONE;
}

/* What is given may be another name of the device. */
static void set_name_slaves(struct change *change)
{
	char *active = change->pairs.set.value[OPT_ACTIVE_SLAVE].name;

	change->slave = cli_slave_name(&change->pins, change->slave, change->slave_name);
	cli_slave_name(&change->pins, active, active);
}

static enum cli_exit set_run(const struct cli *cli, const struct verb *verb, struct change *change,
			     int argc, char **argv)
{
	enum cli_exit status = pairs_parse(verb, argc, argv, &change->pairs);

	if (status != CLI_DONE)
		return status;
	if (cli_open(cli, change->bond, &change->pins))
		return CLI_REFUSED;
	set_name_slaves(change);
	/* bondd moves everything to another device, and sets the other options on the way. */
	if (option_device_converts(pairs_find(&change->pairs, OPT_DEVICE),
				   change->pins.bond->device_kind))
		status =
			cli_request_long(cli, verb->name, change->bond, pairs_json(&change->pairs));
	else
		status = set_apply(cli, change);
	pins_close(&change->pins);
	return status;
}

enum cli_exit cmd_set(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct change change = { .bond = argv[0] };

	return set_run(cli, verb, &change, argc - 1, argv + 1);
}

enum cli_exit cmd_set_slave(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct change change = { .bond = argv[0], .slave = argv[1] };

	return set_run(cli, verb, &change, argc - 2, argv + 2);
}

/* takeover and handback: bondd does it; here only the words are checked. */

enum cli_exit cmd_handover(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct pairs pairs;
	enum cli_exit status;

	status = pairs_parse(verb, argc - 1, argv + 1, &pairs);
	if (status != CLI_DONE)
		return status;
	return cli_request_long(cli, verb->name, argv[0],
				verb->takes_options ? pairs_json(&pairs) : NULL);
}
