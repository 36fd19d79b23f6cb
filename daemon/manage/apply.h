/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `load` and `apply`: bonds become what their configuration files say, and go back. Called for
 * users, and for all bonds after SIGHUP.
 */
#ifndef XBOND_DAEMON_MANAGE_APPLY_H
#define XBOND_DAEMON_MANAGE_APPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

#define ROLLBACK_MAX_S 86400

/* See rollback.c, below. */
struct rollback_terms {
	unsigned int seconds; /* 0: only if bondd dies before rollback_forget() */
	uint64_t apply; /* rollback_new_apply(); bonds with the same number go back together */
};

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

/*
 * rollback.c: what a bond was before `apply` changes it, to go back to. RUN_DIR/BOND.rollback has
 * it, from before the first step until after the last one: a bondd that finds it undoes what
 * another one has not finished. With `apply --confirm` it stays there until somebody confirms the
 * change, or until the bond has gone back completely, because nobody has confirmed it in time. The
 * time also runs while no bondd is there.
 */

uint64_t rollback_new_apply(void);

/*
 * From now on the bond goes back after so many seconds. Takes the reference to the snapshot, which
 * is kept only if no earlier one is. Fails if the file cannot be written.
 */
int rollback_begin(struct daemon *daemon, const char *bond, json_t *snapshot,
		   const struct rollback_terms *terms, struct err *err);
/* Seconds until it goes back, rounded up; 0: it does not wait to be confirmed. */
unsigned int rollback_left_s(const char *bond);
/* What it is now is what it shall be. -ENOENT: it did not wait for that. */
int rollback_confirm(const char *bond, struct err *err);
/*
 * It goes back now. Afterwards it waits for nothing, whatever is returned; but -EBUSY: nothing was
 * done, because a takeover or handback has not ended, or another bond that waits has a slave that
 * this one gets back.
 */
int rollback_now(const char *bond, struct err *err);
/* Before rollback_now() for all of them: they give up slaves that others of them had. */
void rollback_prepare_all(void);
/* Its change is complete, or nobody has to confirm any more: the bond was made anew or is gone. */
void rollback_forget(const char *bond);
/* Follows a bond that is called `to` now. Does nothing if these names are equal. */
void rollback_rename(struct daemon *daemon, const char *from, const char *to);
/* The names of the bonds that wait; a new reference. */
json_t *rollback_names(void);
/* Their records have been removed by somebody: writes them again. Returns -EIO if one is not. */
int rollback_record_again(void);

/*
 * After adoption and configuration: goes on with what an earlier bondd has begun. bond NULL: of all
 * bonds that are adopted.
 */
void rollback_resume(struct daemon *daemon, const char *bond);
/* Before bondd ends; the files stay. */
void rollback_stop(void);

/*
 * config.c: CONFIG_DIR/BOND.conf (xbond.conf(5)) at start and for `load`: makes the bonds that do
 * not exist. Slaves that a file names but that are not there yet are added when they appear; which
 * device a section means is found out here, too.
 */

/*
 * Called after adoption. A mistake in a file is reported as file:line, and nothing of that file is
 * applied.
 */
void config_apply_all(struct daemon *daemon);
/* The same for one bond, if it has a file. */
void config_apply(struct daemon *daemon, const char *name);
/*
 * theirs: where a bondctl has its configuration; NULL: it does not say. -EINVAL: another directory
 * than ours, so it would show files that are not applied.
 */
int config_check_dir(const struct daemon *daemon, const char *theirs, struct err *err);
/* The bond's file. Logs every mistake. */
int config_read(struct daemon *daemon, const char *bond, struct config_file *ret_file,
		struct err *err);
/*
 * Makes the bond with its slaves, and brings it up if option up says so. What a bondd that dies
 * meanwhile has made is removed.
 */
int config_create(struct daemon *daemon, const char *name, const struct config_file *file,
		  struct err *err);

/*
 * Adds awaited slaves (bond/awaited.h) when their device appears: under the name in the
 * configuration, or under another name if the NIC is the same by its permanent MAC address. A slave
 * that is refused is tried again when there is news of it.
 */

/* Members that the configuration calls otherwise are awaited under that name if they go. */
void config_keep_names(struct bond *bond, const struct config_file *file);
/* A device has appeared: adds it if it is awaited under this name. */
void config_link_appeared(struct daemon *daemon, const char *name);
/* Tries every awaited slave whose device is there: at start, and after messages were lost. */
void config_look_again(struct daemon *daemon);
/*
 * Called twice a second: adds NICs that came back under another name, after udev has had the time
 * to rename them.
 */
void config_wait_tick(struct daemon *daemon);

/*
 * The device that a section of the configuration means: by its name, by an alternative name, or by
 * its permanent MAC address.
 */

/*
 * The device of a section. One with a name and a MAC address is a slave that was there before: by
 * name, or else by its address. -ENODEV: it is not there. -ENOTUNIQ: slave_find_is_unclear() says
 * so.
 */
int slave_find(struct bond *bond, const struct config_slave *slave, struct link_info *ret_link);
/* Returns -ENOTUNIQ, with a line in err. */
int slave_find_is_unclear(const struct config_slave *slave, struct err *err);
/* The same before there is a bond. */
int slave_find_new(struct daemon *daemon, const struct config_slave *slave,
		   struct link_info *ret_link);

#endif
