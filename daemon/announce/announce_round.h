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

#include "daemon/net/nl.h"

struct announcement {
	struct announcement *next;
	int ifindex;	  /* bond0, or 0 if it is in another namespace */
	int port_ifindex; /* its port side */
	bool dropped;	  /* atomic: stops what is not sent yet */
	int *reached;	  /* devices of bondd's namespace that belong to it */
	size_t reached_count;
};

void announce_round(struct nl *nl, struct announcement *announcements);
void announcement_free(struct announcement *announcement);

#endif
