/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the kernel's devices for the carriers of all slaves of a bond, in microseconds and without
 * a lock. Used by the poll and by what wakes bondd. Where the kernel lets programs read no devices
 * (before Linux 6.2), poll.h asks the drivers instead.
 */
#ifndef XBOND_DAEMON_MONITOR_LOOK_H
#define XBOND_DAEMON_MONITOR_LOOK_H

#include "daemon/bond/bond.h"

/* since_ns: when a loss that is found now began. Evaluates. Returns false if it cannot look. */
bool look_take(struct bond *bond, uint64_t since_ns);

#endif
