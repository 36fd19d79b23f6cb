/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `apply --confirm`: a bond goes back to what it was unless somebody confirms the change in time.
 * RUN_DIR/BOND.rollback has what it was and until when, from before the first step until the bond
 * has gone back completely; so whichever bondd is there finishes it. The time also runs while none
 * is there.
 */
#ifndef XBOND_DAEMON_MANAGE_ROLLBACK_H
#define XBOND_DAEMON_MANAGE_ROLLBACK_H

#include <jansson.h>
#include <stdint.h>

#include "common/paths.h"
#include "daemon/bond/daemon.h"

#define ROLLBACK_MAX_S 86400

struct rollback_terms {
	unsigned int seconds; /* 0: there is no rollback */
	uint64_t apply; /* rollback_new_apply(); bonds with the same number go back together */
};
uint64_t rollback_new_apply(void);

/*
 * From now on the bond goes back after so many seconds. Takes the reference to the snapshot, which
 * is kept only if no earlier one is. Fails if the file cannot be written.
 */
int rollback_begin(struct daemon *daemon, const char *bond, json_t *snapshot,
		   const struct rollback_terms *terms, struct err *err);
/* Seconds until it goes back, rounded up; 0: it stays as it is. */
unsigned int rollback_left_s(const char *bond);
/* What it is now is what it shall be. -ENOENT: it did not wait for that. */
int rollback_confirm(struct daemon *daemon, const char *bond, struct err *err);
/*
 * It goes back now. Afterwards it waits for nothing, whatever is returned; but -EBUSY: nothing was
 * done, because a takeover or handback has not ended, or another bond that waits has a slave that
 * this one gets back.
 */
int rollback_now(struct daemon *daemon, const char *bond, struct err *err);
/* Before rollback_now() for all of them: they give up slaves that others of them had. */
void rollback_prepare_all(void);
/* Nobody has to confirm any more, because the bond was made anew or is gone. */
void rollback_forget(struct daemon *daemon, const char *bond);
/* Follows a bond that is called `to` now. Does nothing if these names are equal. */
void rollback_rename(struct daemon *daemon, const char *from, const char *to);
/* The names of the bonds that wait; a new reference. */
json_t *rollback_names(void);
/* Their records have been removed by somebody: writes them again. Returns -EIO if one is not. */
int rollback_record_again(void);

/* After adoption and configuration: goes on with what an earlier bondd has begun. */
void rollback_resume(struct daemon *daemon);
/* Before bondd ends; the files stay. */
void rollback_stop(void);

/* RUN_DIR/BOND.rollback: a snapshot and when the bond goes back to it. For rollback.c. */

struct rollback_record {
	json_t *snapshot;
	uint64_t at_us; /* by clock_boot_us() */
	uint64_t apply; /* see struct rollback_terms */
};
/* Writes it completely, and to the disk if there is one, or not at all. Returns 0 or -errno. */
int rollback_file_write(const struct paths *paths, const char *bond,
			const struct rollback_record *record);
void rollback_file_remove(const struct paths *paths, const char *bond);

/* Takes the reference to the snapshot. What was written before the machine was started last is due
 * at once. */
typedef void (*rollback_file_visitor)(const char *bond, const struct rollback_record *record,
				      void *arg);
/* Every file that can be read; the others are removed, which the log says. */
void rollback_file_visit(const struct paths *paths, rollback_file_visitor visit, void *arg);

#endif
