/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitors of a link's quality: flap_limit, rx_silence and error_limit. A thread reads the
 * devices' counters while one of these options is on; the rules are in rules/. What has been found
 * is pinned, so that hold-downs go on under the next bondd. Their no counts only while another
 * slave works (bond_link_works()).
 */
#ifndef XBOND_DAEMON_MONITOR_QUALITY_H
#define XBOND_DAEMON_MONITOR_QUALITY_H

#include "daemon/bond/daemon.h"
#include "options/option_set.h"

/* Returns 0 or -errno. */
int quality_init(struct daemon *daemon);
void quality_done(struct daemon *daemon);

/* The bond is new or adopted: its counters are read soon, if an option asks for that. */
void quality_schedule(struct bond *bond);
/* Options of the bond were set. What was counted for those is forgotten; hold-downs end. */
void quality_follow(struct bond *bond, const struct option_set *options);

/* The slave is new. */
void quality_begin(struct bond *bond, unsigned int slot);
/* bondd changes the device, which may cost its carrier: that is no flap. */
void quality_excuse(struct bond *bond, unsigned int slot);

#endif
