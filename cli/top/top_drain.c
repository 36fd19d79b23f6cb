/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_drain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/steer.h"
#include "cli/top/top_read.h"

static struct top_bond *top_drain_find(struct top *top, const char *name)
{
	for (size_t i = 0; i < top->bond_count; i++)
		if (!strcmp(top->bonds[i]->name, name) && !top->bonds[i]->error.text[0])
			return top->bonds[i];
	return NULL;
}

/* The bond may have been made anew since the last reading, so the bonds are read again. */
static int top_drain_write(struct top *top, const char *name, const char *slave, bool drain,
			   struct top_bond **ret_bond, struct err *err)
{
	struct option_set set = { 0 };
	int r = option_set_add(&set, OPTION_SLAVE, "drain", drain ? "on" : "off", err);

	if (!r)
		r = top_read(top, err);
	if (r)
		return r;
	*ret_bond = top_drain_find(top, name);
	if (!*ret_bond)
		return err_set(err, ENOENT, "%s is gone", name);
	r = option_set_check_mode(&set, (*ret_bond)->pins.bond->mode, err);
	if (!r)
		r = steer_check(&(*ret_bond)->pins, name, err);
	return r ? r : steer_write(&(*ret_bond)->pins, name, slave, &set, err);
}

void top_drain(struct top *top, const char *run_dir, const char *bond, const char *slave,
	       bool drain, char ret_line[TOP_MESSAGE])
{
	struct top_bond *found;
	struct err err;
	int r;

	if (top_drain_write(top, bond, slave, drain, &found, &err)) {
		snprintf(ret_line, TOP_MESSAGE, "%s", err.text);
		return;
	}
	r = steer_tell_bondd(run_dir, &found->pins, "refresh", bond, &err);
	if (r && r != -ENOTCONN && r != -ECONNRESET)
		snprintf(ret_line, TOP_MESSAGE, "set, but bondd did not act on it: %s", err.text);
	else
		snprintf(ret_line, TOP_MESSAGE, drain ? "%s is drained" : "%s is no longer drained",
			 slave);
}
