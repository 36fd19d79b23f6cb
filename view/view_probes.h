/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a slave has heard of the targets of the ARP monitor, as JSON. */
#ifndef XBOND_VIEW_VIEW_PROBES_H
#define XBOND_VIEW_VIEW_PROBES_H

#include <jansson.h>

#include "common/pins.h"

/* An array with an object for each target. The map of probes must be there. */
json_t *view_probes(const struct pins *pins, unsigned int slot);

#endif
