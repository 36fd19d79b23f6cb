/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a bond begins and ends: it is made, adopted from an earlier bondd, deleted, or found gone. */
#ifndef XBOND_DAEMON_MANAGE_LIFECYCLE_H
#define XBOND_DAEMON_MANAGE_LIFECYCLE_H

#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"

/* options and settings: what the user asked for; the function fills in the rest of bond. */
int lifecycle_create(struct daemon *daemon, const struct xbond_bond *options,
		     const struct xbond_settings *settings, struct err *err);
/*
 * Releases every slave and removes the device and the pins. Frees bond. -EAGAIN: the bond has gone,
 * but not all of its slaves are as before; bondd tries again (lifecycle_tick()).
 */
int lifecycle_delete(struct bond *bond, struct err *err);
/* The same for a bond that ended so: tries at once. -ENOENT: there is none. */
int lifecycle_delete_again(struct daemon *daemon, const char *name, struct err *err);
struct bond *lifecycle_ending(struct daemon *daemon, const char *name);
/* Refuses the name of such a bond. */
int lifecycle_check_ending(struct daemon *daemon, const char *name, struct err *err);
/* Refuses a name that pins have; no bond of this bondd may have it. */
int lifecycle_check_pins(struct daemon *daemon, const char *name, struct err *err);
/* At each tick: goes on with such bonds. */
void lifecycle_tick(struct daemon *daemon);
/* bond0 is gone already (ip link del, or its namespace died): releases the slaves. Frees bond. */
void lifecycle_gone(struct bond *bond);
/*
 * Takes over every bond below bpf_dir as it runs; finishes or undoes what was left unfinished. An
 * error: nobody knows which there are.
 */
int adopt_all(struct daemon *daemon, struct err *err);
/* From time to time: what could not be adopted yet. */
void adopt_again(struct daemon *daemon);

/* For adopt.c: */
struct bond *lifecycle_new(struct daemon *daemon);
/* is_over: nothing is left for a next bondd. */
void lifecycle_free(struct bond *bond, bool is_over);
/* From now on daemon has it. */
void lifecycle_enlist(struct bond *bond);
int lifecycle_start(struct bond *bond, struct err *err);
/*
 * The device is gone already, or bond->device.is_left. Frees bond. -EAGAIN: slaves are not as
 * before, or the device is still left. The record stays, so that this bondd, or the next one, tries
 * again.
 */
int lifecycle_end(struct bond *bond, struct err *err);

/* Leaves everything running and frees the memory. */
void lifecycle_let_go(struct daemon *daemon);

/*
 * Gives a bond the programs that ask its policy, or takes them away. bondctl loads the policy
 * itself (cli/policy_file.c), so bondd never reads the user's file.
 */

/* At adoption: do the programs that are attached ask the bond's policy? */
void policy_settle_adopted(struct bond *bond);
/*
 * A policy has come or gone. If this fails, the bond goes on with the programs that it has, and
 * what shows a policy says that it does not decide.
 */
int policy_settle(struct bond *bond, struct err *err);
extern struct part policy_part;

/*
 * Ports that somebody else gives to bonds that are teams, as by `ip link set DEV master bond0`:
 * such a device becomes a slave, or it is taken out again, because its frames would reach bond0
 * without xbond_rx. Called for messages about devices, and when bondd starts.
 */

/* link: a message. Does nothing unless it is a port of such a bond, and no slave. */
void team_ports_take(struct daemon *daemon, const struct link_info *link);
/* Looks at all devices. Does nothing if the bond is no team. */
void team_ports_look(struct bond *bond);

/*
 * Devices that somebody has put into bond0, a team, and that did not become slaves. A manager may
 * put one in again and again, and that is logged once.
 */
extern struct part team_refusal_part;

#endif
