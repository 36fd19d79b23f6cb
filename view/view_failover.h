/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a bond learns of failures, and how fast it has been, as JSON. */
#ifndef XBOND_VIEW_VIEW_FAILOVER_H
#define XBOND_VIEW_VIEW_FAILOVER_H

#include <jansson.h>
#include <stdbool.h>

#include "common/pins.h"

/* Puts carrier_source and failover into the bond's object. */
void view_set_failover(json_t *json, const struct pins *pins, bool bondd);

#endif
