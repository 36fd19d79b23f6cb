/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a plan that is about slaves: which stay, come, leave and are awaited. For plan.c
 * alone.
 */
#ifndef XBOND_DAEMON_MANAGE_PLAN_SLAVES_H
#define XBOND_DAEMON_MANAGE_PLAN_SLAVES_H

#include "daemon/bond/daemon.h"
#include "daemon/manage/plan_step.h"

struct plan_slave {
	const struct config_slave *config;
	bool is_there;
	struct link_info link;
	int slot; /* negative: it is no member */
};

struct plan_slaves {
	struct plan_slave list[XBOND_MAX_SLAVES]; /* as the file has them */
	size_t count;
	uint64_t stay;	  /* slots */
	uint64_t leave;	  /* slots */
	size_t new_count; /* that are there and no members */
};

/* Refuses two sections that mean one device. */
int plan_slaves_find(struct bond *bond, const struct config_file *file,
		     struct plan_slaves *ret_slaves, struct err *err);
/* Refuses, if the device of a new slave is in use. leaving: see struct plan_wish. */
int plan_slaves_check(struct bond *bond, const struct plan_slaves *slaves, const json_t *leaving,
		      struct err *err);

/* mode: the one that the bond has then. again: those that stay are added anew. */
void plan_slaves_set(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode,
		     struct plan *plan);
/*
 * A queue_id that one slave has now and another shall have is given up first. gone: slots of slaves
 * that have left before.
 */
void plan_slaves_free_queue_ids(struct bond *bond, const struct plan_slaves *slaves, uint64_t gone,
				struct plan *plan);
void plan_slaves_add(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode, bool again,
		     struct plan *plan);
void plan_slaves_del(struct bond *bond, uint64_t slots, struct plan *plan);
/* Those that are not there are awaited, and no others. */
void plan_slaves_await(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode,
		       struct plan *plan);

#endif
