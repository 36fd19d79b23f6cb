/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place where link states become decisions. Code that finds out something that a decision
 * may depend on calls bond_evaluate(). Below that, what it calls for others: figures of failovers,
 * balance-alb, bursts, buckets that move by load, and what the BFD and LACP threads are told.
 */
#ifndef XBOND_DAEMON_BOND_EVALUATE_H
#define XBOND_DAEMON_BOND_EVALUATE_H

#include "common/err.h"
#include "daemon/bond/bond.h"

struct bfd_thread_bond;
struct lacp_thread_bond;
struct part;

/*
 * Evaluates link states, delays, the active slave and the carrier of the bond: decides, publishes,
 * and logs last. Safe to call at any time; publishes only what has changed.
 */
void bond_evaluate(struct bond *bond);
/*
 * The primary was named or enslaved: it becomes the active slave as soon as it can be, whatever
 * primary_reselect says.
 */
void bond_primary_changed(struct bond *bond);
/* prio or primary_reselect was set: a choice that the user has made by hand ends. */
void bond_choose_active_again(struct bond *bond);
/* Announces a failover that has not been announced yet. */
void bond_announce_failover(struct bond *bond);
/* The next evaluation chooses the active slave as if there were none. */
void bond_free_active(struct bond *bond);

/*
 * The delays of links, and the timer of updelay, downdelay, a standby port that takes over, and
 * flows that wait for markers: decide.c.
 */

/* Sets the timer to what ends first. */
void delay_arm(struct bond *bond);
/* Has a delay of a link ended? For those who wait outside the event loop. */
bool delay_is_over(struct bond *bond, uint64_t now_ns);
/* The speed that is known of the slave was asked for at this time. */
void delay_note_speed(struct bond *bond, unsigned int slot, uint64_t asked_ns);
/* Has its speed been asked for since its link began to work? Before, the last one is known. */
bool delay_knows_speed(const struct bond *bond, unsigned int slot);
extern struct part delay_part, failover_part, told_part;

/*
 * How long failovers take: the figures that `show` prints. They are in the bond's pinned map, so
 * they outlive bondd.
 */

/*
 * The slave's link failed at this time (CLOCK_MONOTONIC). Called by a monitor that knows it, before
 * its verdict. Without it, a failure counts from the verdict.
 */
void failover_began(struct bond *bond, unsigned int slot, uint64_t ns);

/* balance-tlb and balance-alb: what the programs know of addresses and of the active slave. */

/*
 * Puts the published plan and the slaves' recorded addresses in force. Called after each decision,
 * and when addresses have changed.
 */
void publish_alb(struct bond *bond);

/*
 * Bursts. What the main loop does on its own (messages, polls, timers) must not wait until the
 * programs have let go of a bond's idle buckets. Within a burst, a plan that would have to wait is
 * put off (bond->plan_due). It is published when a thread reports that the programs have let go
 * (dataplane.h). Slaves that fail still leave at once. Requests wait.
 */

/* Call it after the event loop exists. Returns 0 or -errno. */
int burst_init(struct daemon *daemon, struct err *err);
void burst_done(struct daemon *daemon);

void burst_begin(struct daemon *daemon);
void burst_end(struct daemon *daemon);
/* A turn of the main loop that is a burst, and what for (latency_note()). Returns 0. */
int burst_run(struct daemon *daemon, const char *what, void (*turn)(struct daemon *daemon));
/* Makes sure that no bond has to wait at its next publication. One wait serves all bonds. */
void burst_settle(struct daemon *daemon);
/* Readable when burst_settled() has something to do. */
int burst_fd(const struct daemon *daemon);
void burst_settled(struct daemon *daemon);

/*
 * rebalance_interval and tlb_dynamic_lb: at the end of each interval the busiest slaves give hot
 * buckets to the idlest. rules/rebalance.c chooses, rules/buckets.c says how a bucket moves, and
 * the programs move it. Called by evaluate.c; works by a timer.
 */

/* Are buckets moved by load, as the options are? */
bool bond_rebalance_is_wanted(const struct bond *bond);
/* Begins, goes on or ends, as the options say. Call it before the flags are published. */
void bond_rebalance_settle(struct bond *bond);
/* When the bond is let go of, what moves is left to the programs and to the next bondd. */
extern struct part rebalance_part;

/*
 * Keeps the BFD thread's sessions of a bond as its options and its slaves are. Called by
 * evaluate.c, so whatever changes a bond reaches the sessions. What they find comes back through
 * daemon/monitor/verdict.c.
 */

/* Does the bond have the monitor? */
bool bond_bfd_is_wanted(const struct xbond_bond *pin);
void bond_bfd_configure(struct bond *bond);
/* Its sessions; NULL: it does not have the monitor. */
struct bfd_thread_bond *bond_bfd_thread(const struct bond *bond);
/* forget: as bfd_thread_remove(). */
void bond_bfd_stop(struct bond *bond, bool forget);
extern struct part bfd_part;

/*
 * 802.3ad of one bond, as seen from the main loop: tells the LACP thread what is configured and
 * which links are up, and gives its masks to bond_evaluate().
 */

/*
 * Tells the LACP thread of changed options, members and link states; enters and leaves the mode.
 * Does nothing if nothing has changed.
 */
void bond_lacp_configure(struct bond *bond);
/* What the LACP thread has of it; NULL in the other modes. */
struct lacp_thread_bond *bond_lacp_thread(const struct bond *bond);
/* The bond ends or is handed over. forget: nothing is left for a next bondd. */
void bond_lacp_stop(struct bond *bond, bool forget);
extern struct part lacp_part;
/*
 * The carrier was lost and is back, or will be, and no decision has seen that. LACP must be told.
 */
void bond_lacp_note_flap(struct bond *bond, unsigned int slot);
/* The slots that may transmit and receive by LACP; in other modes, all slots. */
uint64_t bond_lacp_distributing(const struct bond *bond);
uint64_t bond_lacp_collecting(const struct bond *bond);
/* Finds bond_lacp_prospect(); call it before links are judged. leaving: bond_soft_noes(). */
void bond_lacp_settle_standby(struct bond *bond, uint64_t leaving);
/*
 * The slots that LACP lets carry traffic, or would, without those that a monitor wants to take out;
 * in other modes, all. Until LACP runs, what the last bondd has left is in force.
 */
uint64_t bond_lacp_prospect(const struct bond *bond);
/* When a standby port has had its time, or flows have waited long enough for a marker; 0: never. */
uint64_t bond_lacp_next_ns(const struct bond *bond);
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

/* When the LACP thread's news_fd is readable: evaluates the bonds that it speaks for. */
void lacp_news_take(struct daemon *daemon);

/*
 * Inside, for bond_evaluate(): decide.c makes a decision, publish.c puts it in force, evaluate.c
 * logs it.
 */

/* One evaluation: the state before, the state now, and the result. */
struct decision {
	enum xbond_link before[XBOND_MAX_SLAVES];
	uint64_t members, up, usable; /* usable: up, or while its downdelay runs */
	uint64_t linked;	      /* up, whatever LACP says */
	uint64_t came_up, drained;
	uint64_t took_ns[XBOND_MAX_SLAVES]; /* by publish.c; 0: the slave has not failed over */
	uint64_t rx_mask;
	unsigned int active_before;
	uint32_t active_request; /* the request in settings that this decision answers */
	bool carrier, carrier_before;
	struct dataplane_plan plan;
};

/*
 * Advances the links of the bond's slaves and fills in a decision, which must be all zero except
 * `before`.
 */
void decide_links(struct bond *bond, struct decision *decision);
void decide(struct bond *bond, struct decision *decision);

void publish_decision(struct bond *bond, struct decision *decision);
/*
 * Which buckets have moved from which slave to which, as an event. The copy that is not in force is
 * still that of before.
 */
void bond_tell_moves(struct bond *bond);
/* The name of a slot that may have been left; NULL: of none. */
const char *bond_tell_name(struct bond *bond, unsigned int slot);

#endif
