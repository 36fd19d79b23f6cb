/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects `lacp` of a bond of mode 802.3ad and of its slaves, as the contract has them. */
#ifndef XBOND_VIEW_VIEW_LACP_H
#define XBOND_VIEW_VIEW_LACP_H

#include <jansson.h>

#include "common/pins.h"
#include "lacp/lacp.h"

/*
 * What bondd's LACP thread published last; without ports when it has published nothing yet. Not to
 * be run.
 */
void view_lacp_read(const struct pins *pins, struct lacp_system *ret_system);

/* New references. */
json_t *view_lacp_bond(const struct pins *pins, const struct lacp_system *sys);
json_t *view_lacp_slave(const struct pins *pins, const struct lacp_system *sys, unsigned int slot);

#endif
