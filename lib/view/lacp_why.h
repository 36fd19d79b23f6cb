/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a port of an 802.3ad bond does and why it does no more, in one sentence. */
#ifndef XBOND_VIEW_LACP_WHY_H
#define XBOND_VIEW_LACP_WHY_H

#include <stdint.h>

#include "lacp/lacp.h"

#define LACP_WHY_SIZE 160 /* enough for every sentence of lacp_why() */

/* Names of the slaves, for sentences. NULL, or an answer of NULL, gives "port 3". */
typedef const char *(*lacp_port_name)(const void *context, unsigned int slot);

/*
 * What the port does and why it does no more, as a sentence without a full stop. `text` has
 * LACP_WHY_SIZE octets.
 */
void lacp_why(const struct lacp_system *sys, unsigned int slot, uint64_t now_ns,
	      lacp_port_name name, const void *name_context, char *text);

#endif
