/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a slave is not in use, in one sentence. */
#ifndef XBOND_VIEW_VIEW_WHY_H
#define XBOND_VIEW_VIEW_WHY_H

#include <jansson.h>

#include "common/pins.h"
#include "lacp/lacp.h"

/* Null if it is in use. lacp: NULL if the mode is not 802.3ad. A new reference. */
json_t *view_why(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot);

#endif
