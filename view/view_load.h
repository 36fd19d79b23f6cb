/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rebalance_interval has done to a bond, as JSON. */
#ifndef XBOND_VIEW_VIEW_LOAD_H
#define XBOND_VIEW_VIEW_LOAD_H

#include <jansson.h>

#include "common/pins.h"

/* Puts `rebalance` into the bond's object: null while it is off. */
void view_set_load(json_t *json, const struct pins *pins);

#endif
