/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set and set-slave. First all pairs are checked. Then bondd gets the options that it keeps. Then
 * the steering options are written into the settings map, where they act on the next packet, and
 * bondd is told. Without bondd the steering options still work.
 */
#include <errno.h>

#include "cli/base/pairs.h"
#include "cli/base/steer.h"
#include "common/slots.h"
#include "view/view_bond.h"

struct change {
	const char *bond;
	const char *slave; /* NULL for options of the bond */
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
			cli_say("set, but bondd did not act on it: %s", err.text);
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

static enum cli_exit set_run(const struct cli *cli, const struct verb *verb, struct change *change,
			     int argc, char **argv)
{
	enum cli_exit status;
	struct err err;

	status = pairs_parse(verb, argc, argv, &change->pairs);
	if (status != CLI_DONE)
		return status;
	if (pins_open(&change->pins, cli->paths.bpf_dir, change->bond, &err))
		return cli_refuse(&err);
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
