/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of users, from the control socket and from configuration files: checks everything,
 * then does the request completely or not at all. docs/developers/control.md describes them.
 */
#ifndef XBOND_DAEMON_MANAGE_REQUESTS_H
#define XBOND_DAEMON_MANAGE_REQUESTS_H

#include <jansson.h>

#include "daemon/bond/daemon.h"
#include "options/option_set.h"

/* A line in err: there is no bond of that name, or why bondd does not have it. Returns -errno. */
int request_refuse_absent(struct daemon *daemon, const char *name, struct err *err);
/* The bond of that name, if need be adopted now; or the same. */
int request_find(struct daemon *daemon, const char *name, struct bond **ret_bond, struct err *err);

/* -EBUSY, with a line in err: a takeover or handback of the bond has not ended. */
int request_check_free(struct daemon *daemon, const char *name, struct err *err);

int request_create(struct daemon *daemon, const char *name, const struct option_set *options,
		   struct err *err);
int request_delete(struct daemon *daemon, const char *name, struct err *err);
/* A line that the user should know, for the end of this JSON array; NULL: nobody wants it. */
void request_note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* notes: of request_note(). */
int request_add_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, const struct option_set *options, json_t *notes,
		       struct err *err);
/* One slave, into this slot if that is free, otherwise into another. */
int request_add_slave_at(struct daemon *daemon, const char *name, const char *slave,
			 unsigned int slot, const struct option_set *options, struct err *err);
int request_del_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, json_t *notes, struct err *err);
int request_set(struct daemon *daemon, const char *name, const struct option_set *options,
		struct err *err);
/* Options of slaves that bondd keeps (OPTION_IN_SLAVE). */
int request_set_slaves(struct daemon *daemon, const char *name, const char *const *slaves,
		       size_t count, const struct option_set *options, struct err *err);
/* Tells that these options were set; slave: NULL for those of the bond. */
void request_tell_options(struct bond *bond, const char *slave, const struct option_set *options);
int request_refresh(struct daemon *daemon, const char *name, struct err *err);
/* bondctl has loaded or removed a policy. */
int request_policy(struct daemon *daemon, const char *name, struct err *err);

#endif
