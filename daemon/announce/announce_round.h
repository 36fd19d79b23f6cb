/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One round of announcements: reads what there is to say, and says it, with pauses; first in our
 * own namespace, then in others where devices stand on the bonds. It may take long; a thread runs
 * it.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_ROUND_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/net/nl.h"

struct announcement {
	struct announcement *next;
	int ifindex;	  /* bond0, or 0: it is elsewhere */
	int port_ifindex; /* its port side */
	bool dropped;	  /* atomic: what is not sent yet is not */
	int *reached;	  /* devices of our namespace that belong to it */
	size_t reached_count;
};

void announce_round(struct nl *nl, struct announcement *announcements);
void announcement_free(struct announcement *announcement);

#endif
