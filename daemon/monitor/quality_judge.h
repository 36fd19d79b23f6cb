/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges a slave by what its device has counted: makes verdicts by the rules and keeps the pinned
 * record. quality.c says when.
 */
#ifndef XBOND_DAEMON_MONITOR_QUALITY_JUDGE_H
#define XBOND_DAEMON_MONITOR_QUALITY_JUDGE_H

#include "daemon/bond/bond.h"
#include "network/driver.h"

/* Is one of the three options on? */
bool quality_is_wanted(struct bond *bond);
/* Returns true if a verdict has changed; the caller then evaluates the bond. */
bool quality_judge(struct bond *bond, unsigned int slot, const struct link_stats *stats,
		   uint64_t now_ns);
/*
 * The monitor has no verdict on any slave, holds none down, and has counted nothing. The caller
 * evaluates the bond.
 */
void quality_clear(struct bond *bond, enum xbond_monitor monitor);
/* The slave is new. */
void quality_begin(struct bond *bond, unsigned int slot);
/* bondd changes the device, which may cost its carrier: that is no flap. */
void quality_excuse(struct bond *bond, unsigned int slot);

#endif
