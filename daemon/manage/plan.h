/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be done to make a running bond what a configuration says: as few steps as possible, in
 * the order that interrupts traffic least. Changes nothing; plan_run.h does the steps.
 *
 * The order: the bond's options; options of slaves that stay; new slaves; slaves that leave. So no
 * slave leaves before its successor is there. min_links rises after new slaves have come. A
 * fail_over_mac that changes needs a bond without slaves, so there slaves leave first.
 */
#ifndef XBOND_DAEMON_MANAGE_PLAN_H
#define XBOND_DAEMON_MANAGE_PLAN_H

#include <jansson.h>

#include "daemon/bond/daemon.h"
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

struct plan_wish {
	const struct config_file *file;
	/*
	 * Of a bond as it was (snapshot.h): also options that its mode does not have, and those that
	 * a file need not name.
	 */
	bool is_exact;
	/* All slaves may leave the bond for a moment, if that is needed. */
	bool may_interrupt;
};

/*
 * The steps for a bond that runs. -errno, with a line in err, if they are known to be refused or
 * would interrupt the traffic although they may not. Free the plan in any case.
 */
int plan_make(struct bond *bond, const struct plan_wish *wish, struct plan *ret_plan,
	      struct err *err);
/* Those that config_create() does. */
int plan_make_new(struct daemon *daemon, const struct config_file *file, struct plan *ret_plan,
		  struct err *err);
/* A new step behind the others; NULL: out of memory. */
struct plan_step *plan_add(struct plan *plan, enum plan_action action);
/* {"action", "slaves", "options", "text"}; the text is as for bondctl. A new reference. */
json_t *plan_step_json(const struct plan_step *step, const char *bond);
void plan_free(struct plan *plan);

#endif
