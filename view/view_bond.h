/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as a JSON object, as xbond-json(5) describes it, from its pinned maps. bondctl makes both
 * outputs from it, for scripts and for people. bondd answers with it to users who may not read the
 * maps.
 */
#ifndef XBOND_VIEW_VIEW_BOND_H
#define XBOND_VIEW_VIEW_BOND_H

#include <jansson.h>

#include "common/pins.h"
#include "common/readings.h"

/*
 * What `show` prints. bondd: true if bondd runs and answers. loop: the figures of its main loop;
 * NULL if they are not known. Returns a new reference, or NULL if the counters cannot
 * be read.
 */
json_t *view_bond(const struct pins *pins, const char *name, bool bondd,
		  const struct loop_figures *loop);

/* What `show` prints for a bond of another ABI version, of which nothing else can be read. */
json_t *view_foreign(const char *name, uint32_t abi, bool bondd);

/* The slave's mii_status; null if that does not exist. link: enum xbond_link. */
json_t *view_link(uint32_t link);
/* What others have done to the slave, a sentence for each; null if nothing. A new reference. */

/* What `stats` prints. loop: as above. */
json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop);

#endif
