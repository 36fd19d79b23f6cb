/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `load` and `apply`: bonds become what their configuration files say. Called for users, and for
 * all bonds after SIGHUP.
 */
#ifndef XBOND_DAEMON_MANAGE_APPLY_H
#define XBOND_DAEMON_MANAGE_APPLY_H

#include <jansson.h>

#include "daemon/bond/daemon.h"
#include "daemon/manage/rollback.h"

struct apply_order {
	bool is_dry;		       /* says what it would do */
	bool only_new;		       /* bonds that run stay as they are */
	bool may_interrupt;	       /* see struct plan_wish */
	struct rollback_terms confirm; /* when it goes back; no seconds: it does not */
	const json_t *leaving;	       /* see struct plan_wish */
};

/*
 * One bond, completely or not at all: if a step is refused, what was done before is undone. Returns
 * what docs/json/apply.schema.json calls a bond; a failure is its "error".
 */
json_t *apply_bond(struct daemon *daemon, const char *bond, const struct apply_order *order);
/* Every bond that has a file: an array of them. */
json_t *apply_all(struct daemon *daemon, const struct apply_order *order);

#endif
