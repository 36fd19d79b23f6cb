/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slave's micro-BFD session as JSON. */
#ifndef XBOND_VIEW_VIEW_BFD_H
#define XBOND_VIEW_VIEW_BFD_H

#include <jansson.h>

#include "common/pins.h"

/* Adds to the monitor's object. NULL: the monitor has no verdict, and an object is made. */
json_t *view_bfd(const struct pins *pins, unsigned int slot, json_t *monitor);
/* That the programs have ended its session while bondd is away; NULL: they have not. */
json_t *view_bfd_why(const struct pins *pins, unsigned int slot);
/* Has the slave a session? */
bool view_bfd_has_session(const struct pins *pins, unsigned int slot);

#endif
