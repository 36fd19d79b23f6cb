/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flap_limit, rx_silence and error_limit have found on a slave, as JSON and in words. */
#ifndef XBOND_VIEW_VIEW_QUALITY_H
#define XBOND_VIEW_VIEW_QUALITY_H

#include <jansson.h>

#include "common/pins.h"

/* Adds to the object of this monitor what it has measured; nothing for other monitors. */
void view_quality_add(json_t *json, const struct pins *pins, unsigned int slot,
		      enum xbond_monitor monitor);
/* How long the slave is still held down by this monitor; 0: it is not, or that is unknown. */
uint64_t view_quality_left_ms(const struct pins *pins, unsigned int slot,
			      enum xbond_monitor monitor);

#endif
