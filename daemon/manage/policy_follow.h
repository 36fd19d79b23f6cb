/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a bond the programs that ask its policy, or takes them away. bondctl loads the policy
 * itself (cli/policy_file.c), so bondd never reads the user's file.
 */
#ifndef XBOND_DAEMON_MANAGE_POLICY_FOLLOW_H
#define XBOND_DAEMON_MANAGE_POLICY_FOLLOW_H

#include "daemon/bond/daemon.h"

/* At adoption: do the programs that are attached ask the bond's policy? */
void policy_follow_adopted(struct bond *bond);
/*
 * A policy has come or gone. If this fails, the bond goes on with the programs that it has, and
 * what shows a policy says that it does not decide.
 */
int policy_follow(struct bond *bond, struct err *err);

#endif
