/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 802.3ad of one bond, as seen from the main loop: tells the LACP thread what is configured and
 * which links are up, and gives its masks to bond_evaluate().
 */
#ifndef XBOND_DAEMON_BOND_BOND_LACP_H
#define XBOND_DAEMON_BOND_BOND_LACP_H

#include "daemon/bond/bond.h"

/*
 * Tells the LACP thread of changed options, members and link states; enters and leaves the mode.
 * Does nothing if nothing has changed.
 */
void bond_lacp_follow(struct bond *bond);
/* The bond ends or is handed over. forget: nothing is left for a next bondd. */
void bond_lacp_stop(struct bond *bond, bool forget);
/*
 * The carrier was lost and is back, or will be, and no decision has seen that. LACP must be told.
 */
void bond_lacp_note_flap(struct bond *bond, unsigned int slot);
/* The slots that may transmit and receive by LACP; in other modes, all slots. */
uint64_t bond_lacp_distributing(const struct bond *bond);
uint64_t bond_lacp_collecting(const struct bond *bond);
/* Sets `prospect`; call it before links are judged. leaving: bond_soft_noes(). */
void bond_lacp_follow_standby(struct bond *bond, uint64_t leaving);
/*
 * drain_markers: these slots still work and are about to lose flows. Returns true while a marker
 * waits for its response; then the bond is evaluated again. The wait is 3 s at most, even if the
 * plan changes meanwhile (rules/active.h).
 */
bool bond_lacp_must_wait(struct bond *bond, const struct dataplane_plan *plan, uint64_t losers);
/*
 * Logs the news of the thread with the names of the slaves; call it before a name is forgotten.
 * Called by bond_evaluate() when everything is published.
 */
void bond_lacp_log(struct bond *bond);

/* The LACP thread has news: evaluates the bonds that it speaks for. */

struct daemon;

/* When lacp_thread_fd() is readable. */
void lacp_news_take(struct daemon *daemon);

#endif
