/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the turns of bondd's main loop took, as JSON. */
#ifndef XBOND_VIEW_VIEW_LOOP_H
#define XBOND_VIEW_VIEW_LOOP_H

#include <jansson.h>

#include "common/readings.h"

/* A new reference. */
json_t *view_loop(const struct loop_figures *figures);

#endif
