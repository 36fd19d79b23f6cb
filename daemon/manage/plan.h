/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be done to make a running bond what a configuration says: as few steps as possible, in
 * the order that interrupts traffic least. A plan changes nothing until
 * plan_run() does its steps.
 *
 * The order: the bond's options; options of slaves that stay; new slaves; slaves that leave. So no
 * slave leaves before its successor is there. min_links rises after new slaves have come. A
 * fail_over_mac that changes needs a bond without slaves, so there slaves leave first.
 */
#ifndef XBOND_DAEMON_MANAGE_PLAN_H
#define XBOND_DAEMON_MANAGE_PLAN_H

#include <jansson.h>

#include "common/paths.h"
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

/* A new step behind the others. */
struct plan_step *plan_add(struct plan *plan, enum plan_action action);
/* {"action", "slaves", "options", "text"}; the text is as for bondctl. A new reference. */
json_t *plan_step_json(const struct plan_step *step, const char *bond);
void plan_free(struct plan *plan);

struct plan_wish {
	const struct config_file *file;
	/*
	 * Of a bond as it was (snapshot.c): also options that its mode does not have, and those
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

/*
 * Does the steps, one after another, by the requests that users make. Ends at the first step that
 * is refused, with its reason in err, or goes on and returns the first reason. A bondd that dies
 * between two steps leaves a bond that is complete and works; the rest of the way is what a new
 * plan contains. notes: as of request_add_slaves().
 */
int plan_run(struct daemon *daemon, const char *bond, const struct plan *plan, bool goes_on,
	     json_t *notes, struct err *err);

/*
 * The part of a plan that is about slaves: which stay, come, leave and are awaited. For plan.c
 * alone.
 */

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

/*
 * A bond as it is, to go back to: every option, every slave, and the slaves that are awaited. As
 * JSON it outlives bondd (rollback.c). Traffic and state, such as the active slave, are no part of
 * it.
 */

/* Both return a new reference; the latter is for a bond that is not there. */
json_t *snapshot_take(struct bond *bond);
json_t *snapshot_of_nothing(void);
/* Returns 0, or -EINVAL with a line in err: it is not one. */
int snapshot_check(const json_t *snapshot, struct err *err);
/*
 * Makes the bond of this name what it was. Does as much as it can; returns the first failure. What
 * it has done is told as events.
 */
int snapshot_restore(struct daemon *daemon, const char *bond, const json_t *snapshot,
		     struct err *err);

/* The names of the bond's slaves, none if there is no such bond. Returns a new reference. */
json_t *snapshot_members(struct daemon *daemon, const char *bond);
/*
 * For a bond that was left without a slave, because it could not have back what it had: adds these
 * again, so that it carries traffic. Returns false if there was no need, or nothing to add.
 */
bool snapshot_keep_members(struct daemon *daemon, const char *bond, const json_t *members);

/* RUN_DIR/BOND.rollback: a snapshot and when the bond goes back to it. For rollback.c. */

struct snapshot_record {
	json_t *snapshot;
	uint64_t at_us; /* by clock_boot_us(); 0: as soon as a bondd finds the record */
	uint64_t apply; /* see struct rollback_terms */
};
/* Writes it completely, and to the disk if there is one, or not at all. Returns 0 or -errno. */
int snapshot_file_write(const struct paths *paths, const char *bond,
			const struct snapshot_record *record);
void snapshot_file_remove(const struct paths *paths, const char *bond);

/* What was written before the machine was started last is due at once; it is over if at_us is 0. */
typedef void (*snapshot_file_visitor)(const char *bond, const struct snapshot_record *record,
				      void *arg);
/*
 * Every file that can be read, or that of one bond; those that cannot be read are removed, which
 * the log says. bond NULL: of all.
 */
void snapshot_file_visit(const struct paths *paths, const char *bond, snapshot_file_visitor visit,
			 void *arg);

#endif
