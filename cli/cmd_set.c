/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set and set-slave. First all pairs are checked. Then bondd gets the options that it keeps. Then
 * the steering options are written into the settings map, where they act on the next packet, and
 * bondd is told. Without bondd the steering options still work.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cli/base/pairs.h"
#include "common/slots.h"
#include "options/names.h"
#include "options/values.h"

struct change {
	const char *bond;
	const char *slave; /* NULL for options of the bond */
	struct pins pins;
	struct pairs pairs;
};

static int set_check_slave(const struct change *change, const char *slave, struct err *err)
{
	if (pins_slot_by_name(&change->pins, slave) >= 0)
		return 0;
	return err_set(err, ENODEV, "'%s' is not a slave of %s; 'bondctl show %s' lists the slaves",
		       slave, change->bond, change->bond);
}

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
			       "active_slave: '%s' is drained; end that by 'set-slave ... drain "
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
	if (set_check_slave(change, asked->name, err))
		return -ENODEV;
	slot = pins_slot_by_name(&change->pins, asked->name);
	return set_check_may_transmit(&change->pins, (unsigned int)slot, err);
}

static int set_check(const struct change *change, struct err *err)
{
	int r;

	r = change->slave ? set_check_slave(change, change->slave, err) : 0;
	if (!r)
		r = option_set_check_mode(&change->pairs.set, change->pins.bond->mode, err);
	if (!r)
		r = set_check_active_slave(change, err);
	if (!r && !change->pins.writable)
		r = err_set(err, EPERM, "no permission to write the settings of %s; run as root",
			    change->bond);
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

/* The slot is looked up again under the lock, because a slave may have gone since the check. */
static int set_write_settings(struct change *change, struct err *err)
{
	int slot = change->slave ? pins_slot_by_name(&change->pins, change->slave) : 0;

	if (slot < 0)
		return set_check_slave(change, change->slave, err);
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs_find(&change->pairs, id) && option_at(id)->home == OPTION_IN_SETTINGS)
			values_write_setting(&change->pins, option_at(id), (unsigned int)slot,
					     pairs_find(&change->pairs, id));
	return 0;
}

static int set_write_locked(struct change *change, struct err *err)
{
	int lock = open(change->pins.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (lock < 0 || flock(lock, LOCK_EX))
		r = err_set(err, errno, "cannot lock %s: %m", change->pins.dir);
	else
		r = set_write_settings(change, err);
	if (lock >= 0)
		close(lock);
	return r;
}

/* The settings remain, whatever bondd answers. */
static void set_tell_bondd(const struct cli *cli, const struct change *change)
{
	json_t *request = json_pack("{s:s, s:s}", "method", "refresh", "bond", change->bond);
	json_t *reply = NULL;
	struct err err;
	int r = -ENOTCONN;

	/* A bondd that is stopped takes the request, and answers when it continues. */
	if (pins_bondd_alive(&change->pins))
		r = client_call(cli->paths.run_dir, request, CLIENT_WAIT_SHORT_S, &reply, &err);
	json_decref(request);
	json_decref(reply);
	if (r != -ENOTCONN && r != -ECONNRESET) {
		if (r)
			cli_say("set, but bondd did not act on it: %s", err.text);
		return;
	}
	if (pairs_find(&change->pairs, OPT_WEIGHT))
		cli_say("bondd is away: the new weight is kept and acts when bondd is back");
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
	if (set_write_locked(change, &err))
		return cli_refuse(&err);
	set_tell_bondd(cli, change);
	return CLI_DONE;
}

static enum cli_exit set_run(const struct cli *cli, const struct verb *verb, struct change *change,
			     int argc, char **argv)
{
	enum cli_exit status;
	struct err err;

	if (name_check("bond", change->bond, &err))
		return cli_refuse(&err);
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
