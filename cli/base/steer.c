/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "options/values.h"

int steer_check(const struct pins *pins, const char *bond, struct err *err)
{
	if (!pins->writable)
		return err_set(err, EPERM, "no permission to write the settings of %s; run as root",
			       bond);
	if (pins_bondd_alive(pins) &&
	    __atomic_load_n(&pins->table->flags, __ATOMIC_RELAXED) & XBOND_F_HANDED_OVER)
		return pins_refuse_handed_over(bond, err);
	return 0;
}

int steer_check_slave(const struct pins *pins, const char *bond, const char *slave, struct err *err)
{
	if (pins_slot_by_name(pins, slave) >= 0)
		return 0;
	return err_set(err, ENODEV, "'%s' is not a slave of %s; 'bondctl show %s' lists the slaves",
		       slave, bond, bond);
}

static int steer_write_settings(struct pins *pins, const char *bond, const char *slave,
				const struct option_set *set, struct err *err)
{
	int slot = slave ? pins_slot_by_name(pins, slave) : 0;

	if (slot < 0)
		return steer_check_slave(pins, bond, slave, err);
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (set->given[id] && option_at(id)->home == OPTION_IN_SETTINGS)
			values_write_setting(pins, option_at(id), (unsigned int)slot,
					     &set->value[id]);
	return 0;
}

int steer_lock(const struct pins *pins, struct err *err)
{
	int lock = open(pins->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (lock >= 0 && !flock(lock, LOCK_EX))
		return lock;
	r = err_set(err, errno, "cannot lock %s: %m", pins->dir);
	if (lock >= 0)
		close(lock);
	return r;
}

int steer_write(struct pins *pins, const char *bond, const char *slave,
		const struct option_set *set, struct err *err)
{
	int lock = steer_lock(pins, err);
	int r;

	if (lock < 0)
		return lock;
	r = steer_write_settings(pins, bond, slave, set, err);
	close(lock);
	return r;
}

int steer_tell_bondd(const char *run_dir, const struct pins *pins, const char *method,
		     const char *bond, struct err *err)
{
	json_t *request = json_pack("{s:s, s:s}", "method", method, "bond", bond);
	json_t *reply = NULL;
	int r = -ENOTCONN;

	/* A bondd that is stopped takes the request, and answers when it continues. */
	if (pins_bondd_alive(pins))
		r = client_call(run_dir, request, CLIENT_WAIT_SHORT_S, &reply, err);
	json_decref(request);
	json_decref(reply);
	return r;
}
