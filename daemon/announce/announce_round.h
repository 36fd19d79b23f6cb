/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One round of announcements: finds out what to announce, and sends it with pauses. It begins in
 * bondd's own namespace and goes on to others that have devices on the bonds. It may take long, so
 * a thread runs it.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_ROUND_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/nl.h"

/* What is announced several times, and when it is due again. */
struct announce_series {
	unsigned int left;
	uint64_t delay_ns, next_ns;
	bool is_due; /* in this round */
};

struct announcement {
	struct announcement *next;
	int port_ifindex; /* the port side of the bond */
	struct announce_series addresses, groups;
	bool dropped; /* atomic: stops what is not sent yet */
	int *reached; /* devices of bondd's namespace that belong to it */
	size_t reached_count;
};

/* Sends of each announcement what is due. */
void announce_round(struct nl *nl, struct announcement *announcements);
void announcement_free(struct announcement *announcement);

#endif
