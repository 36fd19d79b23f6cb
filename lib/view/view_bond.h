/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as a JSON object, as xbond-json(5) describes it, from its pinned maps. bondctl makes both
 * outputs from it, for scripts and for people. bondd answers with it to users who may not read the
 * maps. What is said of a bond in sentences is here, too.
 */
#ifndef XBOND_VIEW_VIEW_BOND_H
#define XBOND_VIEW_VIEW_BOND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/pins.h"
#include "common/readings.h"
#include "lacp/lacp.h"

/*
 * What `show` prints. bondd: true if bondd runs and answers. loop: the figures of its main loop;
 * NULL if they are not known. Returns a new reference, or NULL if the counters cannot
 * be read.
 */
json_t *view_bond(const struct pins *pins, const char *name, bool bondd,
		  const struct loop_figures *loop);
/* What `show` prints for a bond of another ABI version, of which nothing else can be read. */
json_t *view_foreign(const char *name, uint32_t abi, bool bondd);
/* What `stats` prints. loop: as above. */
json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop);

/* An AF_XDP socket on a slave, as the kernel tells (network/xdp_sockets.h). */
struct view_socket {
	const char *slave;
	uint32_t queue, zero_copy, pid;
	char program[16];
};

/* Adds them to the slaves in the object of view_bond(), as `afxdp_sockets`. */
void view_add_sockets(json_t *bond, const struct view_socket *sockets, size_t count);

/* The slave's mii_status; NULL if that does not exist. link: enum xbond_link. */
const char *view_link_word(unsigned int link);
/* True, false, or null if that is unknown. */
json_t *view_attached(enum attached attached);

/*
 * What bondd's LACP thread has published last; without ports if it has not published anything yet.
 * Not for running the machines.
 */
void view_lacp_read(const struct pins *pins, struct lacp_system *ret_system);
/* What the port does, and why it does no more: a sentence. A new reference. */
json_t *view_lacp_why(const struct pins *pins, const struct lacp_system *sys, unsigned int slot);

/*
 * Why the slave is not in use; null if it is. lacp: NULL if the mode is not 802.3ad. A new
 * reference.
 */
json_t *view_why(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot);
/* The monitors that say that the slave's link does not work, as bits. */
uint32_t view_refusing(const struct pins *pins, unsigned int slot);
/* How long the slave is still held down by this monitor; 0: it is not, or that is unknown. */
uint64_t view_hold_left_ms(const struct pins *pins, unsigned int slot, enum xbond_monitor monitor);
/* Has the slave a session of BFD, and how have the programs ended it while bondd was away? */
bool view_has_bfd_session(const struct pins *pins, unsigned int slot);
enum xbond_bfd_end view_bfd_ended(const struct pins *pins, unsigned int slot);

/*
 * The name of the policy of the user, which the kernel cuts off after 15 characters; null: there is
 * none. A new reference.
 */
json_t *view_policy(const struct pins *pins);
/* Is there one, and do packets meet it? */
bool view_policy_decides(const struct pins *pins);
/* Why the policy that is there does not decide; null if it does, or if there is none. */
json_t *view_policy_problem(const struct pins *pins);

/* What others have done to a slave: `problem` in JSON, and what `doctor` finds. */
struct view_problem {
	uint32_t trouble; /* one of XBOND_TROUBLE_* */
	const char *sentence;
};

/* The i-th one; NULL behind the last. */
const struct view_problem *view_problem_at(unsigned int i);

/* It is not there; and: it is there, or was within 3 s, but is stuck or serves other bonds. */
#define VIEW_BONDD_STOPPED "bondd is not running"
#define VIEW_BONDD_SILENT "bondd does not answer"

/* Whether bondd serves a bond, as far as others can tell. */
enum view_bondd { VIEW_BONDD_IS_HERE, VIEW_BONDD_IS_STOPPED, VIEW_BONDD_IS_SILENT };

/* What is told of a bond that bondd does not serve; NULL: it does. has_carrier: the bond has. */
const char *view_problem_bondd(enum view_bondd bondd, bool has_carrier);

/* The same sentence for every verb that shows bonds to people. */
#define VIEW_AWAITED "not a slave yet; bondd is waiting for it (see its log)"
extern const char view_problem_detached_bond[];
extern const char view_problem_detached_slave[];

#endif
