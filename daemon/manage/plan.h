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
#include "daemon/manage/plan_step.h"

struct plan_wish {
	const struct config_file *file;
	/*
	 * Of a bond as it was (snapshot.h): also options that its mode does not have, and those
	 * that a file need not name.
	 */
	bool is_exact;
	/* All slaves may leave the bond for a moment, if that is needed. */
	bool may_interrupt;
	/*
	 * The keys are devices that other bonds would have given up before, in a dry run; NULL:
	 * none.
	 */
	const json_t *leaving;
	/* Only the slaves that leave: other bonds wait for them, and this one for theirs. */
	bool only_frees;
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

#endif
