/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches a program to a TC hook of a device and detaches it: as a pinned TCX link; as a clsact
 * filter with a handle and priority of its own; or in a netkit's transmit function, as a pinned
 * link. All of these outlive bondd.
 */
#ifndef XBOND_DAEMON_DATAPLANE_ATTACH_H
#define XBOND_DAEMON_DATAPLANE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/pins.h"
#include "network/filters.h"
#include "network/nl.h"

/* Of xbond's clsact filters on bonds. */
#define ATTACH_FILTER_PRIORITY 0xb0d
/* of a slave's receive program; the last possible one */
#define ATTACH_LAST_PRIORITY 0xffff
#define ATTACH_FIRST_PRIORITY 1 /* the same where it must come before all others */

#define ATTACH_PROGRAMS_MAX 64 /* of a device's TCX hook: BPF_MPROG_MAX */

struct attach_point {
	enum xbond_hook hook;
	bool egress; /* for TCX and clsact */
	/* Netkit: the device is the primary; the program runs in the peer's transmit function. */
	int ifindex;
	unsigned int priority;	 /* for a clsact filter; 0: ATTACH_FILTER_PRIORITY */
	char pin[PIN_PATH_SIZE]; /* for the TCX or netkit link */
};

/*
 * Before traffic: does what attach_add() would otherwise do under traffic, where a new qdisc drops
 * packets.
 */
int attach_prepare(const struct attach_point *point, struct err *err);
/* Makes the clsact qdisc if there is none. Replaces a filter of ours that is there. */
int attach_add(const struct attach_point *point, int program_fd, struct err *err);
/*
 * Detaches our program; a clsact qdisc stays. Returns 0, also if nothing is there, or -errno: it
 * may go on, and its pin stays.
 */
int attach_remove(const struct attach_point *point);
/* Removes the qdisc if it has no filters. Returns 0, also if there is none, or -errno. */
int attach_remove_clsact(struct nl *nl, int ifindex);
/*
 * The kernel's number of our program there, whichever build made it; 0: none, or its link was
 * detached.
 */
uint32_t attach_program(const struct attach_point *point);
/* The same of the pinned link, whatever the hook is. */
uint32_t attach_linked_program(const struct attach_point *point);
/*
 * By one call: is the program with this number at the hook? False for clsact, which is not asked.
 */
bool attach_has(const struct attach_point *point, uint32_t id);
/* Is our program on that very device? 1 or 0; -errno if that cannot be found out. */
int attach_is_there(const struct attach_point *point);
/* Replaces the program by another; every packet meets one of them. */
int attach_replace(const struct attach_point *point, int program_fd, struct err *err);
/* Does the kernel have TCX (from 6.6 on)? */
bool attach_tcx_works(int ifindex);
/* Does the device have a clsact filter of ours at egress? */
bool attach_has_egress_filter(int ifindex);
/* The same at ingress, with this priority. */
bool attach_has_rx_filter(int ifindex, unsigned int priority);
/* Can a filter of this priority be ours? */
bool attach_is_our_priority(unsigned int priority);
/* Is it ours? */
bool attach_is_our_filter(unsigned int priority, unsigned int handle);
/* The filters of others at the device's ingress. */
int attach_look_for_filters(struct nl *nl, int ifindex, struct filters_others *ret_others);
/*
 * Is there anything of others at the egress after our program, which a redirect of ours would skip?
 * Our program need not be there.
 */
bool attach_skips_others(struct nl *nl, const struct attach_point *egress, int program_fd);
/* Has a bond's device, or one on it, filters or programs at its TC hooks that are not xbond's? */
bool attach_has_others(struct nl *nl, int ifindex);
/* Does the device's TCX hook have a program whose name begins so? */
bool attach_has_program(int ifindex, bool egress, const char *begin);
/* Is it a program of xbond, of whichever build, by its name? */
bool attach_is_of_xbond(uint32_t id);

/* For tcx.c: */

/*
 * Makes another link, at the end or (TCX) in front of all others, without a pin. Returns a
 * descriptor or -errno.
 */
int attach_link_create(const struct attach_point *point, int program_fd, bool before_all);
/* Reads the programs at a TCX hook, in the order in which they run. Returns how many there are. */
uint32_t attach_tcx_list(int ifindex, bool egress, uint32_t ret_ids[ATTACH_PROGRAMS_MAX]);
/* Is it among them? A count that is an error is none. */
bool attach_lists(const uint32_t ids[], int count, uint32_t id);

/*
 * The order of programs at a device's TCX ingress: which run before ours and which after, and how
 * ours changes its place without a gap. Knows no bonds.
 */

struct tcx_order {
	bool is_there;		    /* the program of the pinned link */
	unsigned int before, after; /* those of others; without ours, all count as before */
	uint32_t others;	    /* changes when those of others change */
};

enum tcx_end { TCX_FIRST, TCX_LAST };

/* Reports nothing if the kernel has no TCX. */
struct tcx_order tcx_look(const struct attach_point *point, int program_fd);
/*
 * Puts the program at one end of the order by a new link, then removes the old link. For a moment,
 * frames that they let pass meet both.
 */
int tcx_move(const struct attach_point *point, int program_fd, enum tcx_end end, struct err *err);
/*
 * Cleans up after a tcx_move() of this program that was interrupted. Returns 0, or -errno if a
 * second link may go on.
 */
int tcx_tidy(const struct attach_point *point, int program_fd);

/*
 * Notices frames that stay on a slave although they belong to the bond: somebody's filter in front
 * of the receive program has let them pass for good. It uses sockets of the common protocols, bound
 * to the slave. Normally they receive nothing.
 */

struct bond;
struct stray_frames;

typedef void (*stray_frames_handler)(struct bond *bond, unsigned int slot);

/*
 * Returns NULL on failure. One frame is no proof. Nor are frames in the first moment, when somebody
 * may just be changing programs.
 */
struct stray_frames *stray_frames_new(sd_event *event, int ifindex, stray_frames_handler handler,
				      struct bond *bond, unsigned int slot);
/* Begins anew. */
void stray_frames_reset(struct stray_frames *strays);
/* NULL is none. */
void stray_frames_free(struct stray_frames *strays);

#endif
