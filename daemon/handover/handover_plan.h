/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is handed over, and how far it is: shared by the files of this folder. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_PLAN_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_PLAN_H

#include <jansson.h>
#include <limits.h>

#include "daemon/bond/daemon.h"
#include "network/netconf.h"
#include "options/option_set.h"

#define HANDOVER_DEVICES_MAX 1024
#define HANDOVER_NO_DEVICE INT_MAX /* the kernel refuses what is for it */

/* The bond, or a device on it. Nothing below it comes after it in the plan. */
struct handover_device {
	char name[XBOND_NAME_SIZE];	/* before and after */
	char new_name[XBOND_NAME_SIZE]; /* of the new one, until the names change over */
	char old_name[XBOND_NAME_SIZE]; /* of the old one, from then on */
	char kind[16];			/* of the old one */
	int old, new;			/* ifindexes; new: 0: there is none yet */
	int lower; /* its lower device's index in the plan; -1: it is the bond */
	bool is_up;
	bool has_master;
};

struct handover_slave {
	char name[XBOND_NAME_SIZE];
	int ifindex;
	unsigned int port; /* its number in LACPDUs */
	bool has_link;
	bool is_first; /* to change over */
	json_t *options;
};

struct handover_side;

struct handover {
	struct daemon *daemon;
	bool is_back;	   /* a handback */
	bool is_ending;	   /* the new bond has everything; the old one is being removed */
	char old_kind[16]; /* bond or team: what the kernel's is; "" for a handback */
	json_t *options;   /* of the new bond */
	uint8_t mac[XBOND_MAC_SIZE];
	uint32_t mtu;
	struct handover_device *devices; /* the first is the bond */
	size_t device_count;
	struct handover_slave slaves[XBOND_MAX_SLAVES];
	size_t slave_count;
	struct netconf conf; /* of the old devices */
	json_t *notes;	     /* borrowed; NULL: nobody reads them */
	const struct handover_side *old_side, *new_side;
	/* How far it is: handover.c */
	unsigned int stage;
	size_t next_slave;	/* of those that the stage moves */
	uint64_t wait_until_ns; /* for the next slave, which has been moved; 0: it has not */
	bool has_switched;	/* the new bond has the names and addresses */
	bool is_hurried;	/* waits for no slave */
};

struct handover *handover_new(struct daemon *daemon, bool is_back, json_t *notes);
void handover_free(struct handover *plan);
void handover_note(struct handover *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline const char *handover_name(const struct handover *plan)
{
	return plan->devices[0].name;
}
/*
 * Reads the old device at this index of the plan. -ENODEV: it is gone; whatever has its number now
 * is another.
 */
int handover_find_old(const struct handover *plan, size_t index, struct link_info *ret_link);
/* The given options as {NAME: TEXT}: a new reference. */
json_t *handover_options(const struct option_set *set);
/* The pairs for netconf_apply(): to the new devices, or, with `back`, to the old ones themselves.
 */
struct netconf_device *handover_pairs(const struct handover *plan, bool back);

#endif
