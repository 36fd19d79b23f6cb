/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts a program on a TC hook of a device and takes it off: as a pinned TCX link, or as a
 * clsact filter of a handle and priority of our own; or into a netkit's transmit function,
 * as a pinned link. All outlive bondd.
 */
#ifndef XBOND_DAEMON_DATAPLANE_ATTACH_H
#define XBOND_DAEMON_DATAPLANE_ATTACH_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/pin.h"
#include "daemon/net/filters.h"
#include "daemon/net/nl.h"

/* Of our clsact filters on bonds; earlier builds' on slaves, too. */
#define ATTACH_FILTER_PRIORITY 0xb0d
/* Of the one with an action, on a slave's ingress, before them. */
#define ATTACH_MIRRED_PRIORITY 0xb0c
#define ATTACH_LAST_PRIORITY 0xffff /* of a slave's receive program: there is none after it */
#define ATTACH_FIRST_PRIORITY 1	    /* the same where it must go before others */

#define ATTACH_PROGRAMS_MAX 64 /* of a device's TCX hook: BPF_MPROG_MAX */

struct attach_point {
	enum xbond_hook hook;
	bool egress; /* of TCX and clsact */
	/* Netkit: of the primary; the program runs where its peer transmits. */
	int ifindex;
	unsigned int priority;	 /* of a clsact filter; 0: ATTACH_FILTER_PRIORITY */
	char pin[PIN_PATH_SIZE]; /* of the TCX or netkit link */
};

/* Before traffic: what attach_add() would else do under it, where a new qdisc drops packets. */
int attach_prepare(const struct attach_point *point, struct err *err);
/* Makes the clsact qdisc if there is none. Replaces the filter that we had there. */
int attach_add(const struct attach_point *point, int program_fd, struct err *err);
/*
 * Takes our program off; keep_clsact: the qdisc is not ours to remove. Nothing there is no error.
 */
void attach_remove(struct nl *nl, const struct attach_point *point, bool keep_clsact);
/* The qdisc goes if it has no filters. */
void attach_remove_clsact(struct nl *nl, int ifindex);
/*
 * The kernel's number of our program there, whichever build's it is; 0: none, or its link was
 * detached.
 */
uint32_t attach_program(const struct attach_point *point);
/* The same of the pinned link, whatever the hook is. */
uint32_t attach_linked_program(const struct attach_point *point);
/* Another program in its place; no packet meets none of them. */
int attach_replace(const struct attach_point *point, int program_fd, struct err *err);
/* The kernel's number of a program; 0: unknown. */
uint32_t attach_program_id(int program_fd);
/*
 * Before the receive program of a device, by clsact: what rx_mirred_fd's matches goes to target at
 * once. Replaces.
 */
int attach_add_mirred(struct nl *nl, int ifindex, int program_fd, int target, struct err *err);
void attach_remove_mirred(int ifindex);
/* Has the kernel TCX (6.6 on)? Tried with this program on this device. */
bool attach_tcx_works(int program_fd, int ifindex);
/* Is a clsact filter of ours on it? */
bool attach_has_filter(int ifindex, bool egress);
/* The same at ingress, of this priority. */
bool attach_has_rx_filter(int ifindex, unsigned int priority);
/* May a filter of this priority be ours? */
bool attach_is_our_priority(unsigned int priority);
/* Is it ours? */
bool attach_is_our_filter(unsigned int priority, unsigned int handle);
/* Filters of others at the device's ingress. */
int attach_look_for_filters(struct nl *nl, int ifindex, struct filters_others *ret_others);
bool attach_has_mirred(int ifindex);
/*
 * Is anything of others at the egress after our program, so that a redirect of ours skips it? It
 * need not be there.
 */
bool attach_skips_others(struct nl *nl, const struct attach_point *egress, int program_fd);
/* One more link, at the end or (TCX) before all others, not pinned. A descriptor or -errno. */
int attach_link_create(const struct attach_point *point, int program_fd, bool before_all);
/* The programs at a device's TCX hook, in the order in which they run; how many. */
uint32_t attach_tcx_list(int ifindex, bool egress, uint32_t ret_ids[ATTACH_PROGRAMS_MAX]);
/* Is a program of this name on the device's TCX ingress? */
bool attach_has_program(int ifindex, const char *name);

#endif
