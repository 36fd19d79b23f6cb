/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the link monitors say of a slave, as JSON. */
#ifndef XBOND_VIEW_VIEW_MONITORS_H
#define XBOND_VIEW_VIEW_MONITORS_H

#include <jansson.h>

#include "common/pins.h"

/* An object with a member for each monitor that has a verdict; null if the map is not there. */
json_t *view_monitors(const struct pins *pins, unsigned int slot);

#endif
