/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the traffic of bonds for some seconds: counters before and after, and packet sockets on
 * the slaves, which exist only meanwhile. Changes nothing and sends nothing. Judges nothing.
 */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_WATCH_H
#define XBOND_CLI_DOCTOR_DOCTOR_WATCH_H

#include <linux/filter.h>

#include "cli/doctor/doctor.h"

struct doctor_watch;

/*
 * Of the bonds that are asked for, are up and have their slaves here. Returns NULL if there are
 * none, or if that cannot be done. Takes seconds plus less than a second.
 */
struct doctor_watch *doctor_watch_new(const struct doctor_facts *facts, unsigned int seconds);
void doctor_watch_free(struct doctor_watch *watch);

/* Writes what was seen into the facts, of slaves that are still the same. NULL: nothing. */
void doctor_watch_tell(const struct doctor_watch *watch, struct doctor_facts *facts);

/* The kernel's filter of the packet sockets, for flows of which one of so many is watched. */
#define DOCTOR_WATCH_FILTER 40
void doctor_watch_filter(uint32_t one_of, struct sock_filter ret_code[DOCTOR_WATCH_FILTER]);

#endif
