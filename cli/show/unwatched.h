/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond while bondd is away: the maps are old then, but what the programs do is known. */
#ifndef XBOND_CLI_SHOW_UNWATCHED_H
#define XBOND_CLI_SHOW_UNWATCHED_H

#include <jansson.h>

#include "common/loop_figures.h"
#include "common/pins.h"

/* As view_bond(), but slaves that have lost carrier are down, and the programs avoid them. */
json_t *unwatched_view(const struct pins *pins, const char *name, const struct loop_figures *loop);

#endif
