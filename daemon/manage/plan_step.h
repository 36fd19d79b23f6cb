/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a plan (plan.h), and how they are said. */
#ifndef XBOND_DAEMON_MANAGE_PLAN_STEP_H
#define XBOND_DAEMON_MANAGE_PLAN_STEP_H

#include <jansson.h>

#include "options/config_file.h"

enum plan_action {
	PLAN_CREATE,
	PLAN_SET,
	PLAN_SET_SLAVE,
	PLAN_ADD_SLAVE,
	PLAN_DEL_SLAVE,
	PLAN_AWAIT,  /* a slave whose device is not there */
	PLAN_FORGET, /* to await a slave */
};

struct plan_step {
	enum plan_action action;
	struct option_set options;
	struct config_slave slave; /* PLAN_AWAIT */
	/* Names of devices; those awaited as config_slave_name() names them. */
	char slaves[XBOND_MAX_SLAVES][MAC_FORMAT_SIZE];
	size_t slave_count;
};

struct plan {
	struct plan_step *steps;
	size_t count;
};

/* A new step behind the others. */
struct plan_step *plan_add(struct plan *plan, enum plan_action action);
/* {"action", "slaves", "options", "text"}; the text is as for bondctl. A new reference. */
json_t *plan_step_json(const struct plan_step *step, const char *bond);
void plan_free(struct plan *plan);

#endif
