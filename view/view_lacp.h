/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects `lacp` of an 802.3ad bond and of its slaves, as xbond-json(5) describes them. */
#ifndef XBOND_VIEW_VIEW_LACP_H
#define XBOND_VIEW_VIEW_LACP_H

#include <jansson.h>

#include "common/pins.h"
#include "lacp/lacp.h"

/*
 * What bondd's LACP thread has published last; without ports if it has not published anything yet.
 * Not for running the machines.
 */
void view_lacp_read(const struct pins *pins, struct lacp_system *ret_system);

/* New references. */
json_t *view_lacp_bond(const struct pins *pins, const struct lacp_system *sys);
/* What the port does, and why it does no more: a sentence. */
json_t *view_lacp_why(const struct pins *pins, const struct lacp_system *sys, unsigned int slot);
json_t *view_lacp_slave(const struct pins *pins, const struct lacp_system *sys, unsigned int slot);

#endif
