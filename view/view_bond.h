/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as a JSON object, as the contract has it, from its pinned maps. bondctl makes both
 * outputs, for scripts and for people, from it; bondd answers with it who may not read maps.
 */
#ifndef XBOND_VIEW_VIEW_BOND_H
#define XBOND_VIEW_VIEW_BOND_H

#include <jansson.h>

#include "common/loop_figures.h"
#include "common/pins.h"

/*
 * What `show` prints. bondd: it runs and answers. New references; NULL when memory or the counters
 * fail.
 */
json_t *view_bond(const struct pins *pins, const char *name, bool bondd);

/* What `show` prints of a bond of another ABI version, of which nothing else can be read. */
json_t *view_foreign(const char *name, uint32_t abi, bool bondd);

/* What `stats` prints. loop: of bondd's main loop; NULL: not known. */
json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop);

#endif
