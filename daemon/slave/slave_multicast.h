/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slave_multicast.c and multicast_look.c share: the groups of a bond, and which slaves have
 * joined them for it. slave.h has what others call.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H
#define XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H

#include "daemon/bond/bond.h"

struct multicast_group {
	uint8_t mac[XBOND_MAC_SIZE];
	uint64_t wanted; /* slots that are to have it, at this check; all if bond0 listens to it */
	bool missed;	 /* at the last check bond0 did not listen to it */
	/* Slots whose lists have it because of bondd; the pinned map has the same. */
	uint64_t joined;
	uint64_t there; /* slots whose lists have it, at this check */
};

struct slave_multicast {
	struct multicast_group *group;
	size_t count, room;
	bool is_recorded; /* there is the map that tells a later bondd; else nothing is joined */
	int pin_fd;
	bool full;	     /* the map is full, and this was logged */
	uint64_t seen;	     /* slots whose lists the last check has found */
	uint64_t refusing;   /* slots whose devices have no list */
	uint64_t unicast_ns; /* when addresses that are not groups are due */
	bool unicast_read;   /* the last check has read them */
};

struct slave_multicast *slave_multicast_of(const struct bond *bond);

/* Appends an entry, unsorted. */
struct multicast_group *multicast_look_append(struct slave_multicast *groups, const uint8_t *mac);
/* Sorts, and merges entries with the same address. */
void multicast_look_fold(struct slave_multicast *groups);
uint64_t multicast_look_members(struct bond *bond);
/* Reads the lists of count bonds, beginning at first. Returns 0 or -errno. */
int multicast_look_at(struct bond *first, size_t count);

#endif
