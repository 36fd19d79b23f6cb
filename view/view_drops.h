/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bond has dropped, by reason, as JSON. */
#ifndef XBOND_VIEW_VIEW_DROPS_H
#define XBOND_VIEW_VIEW_DROPS_H

#include <jansson.h>

#include "common/pins.h"

/* slot: of a slave, or XBOND_DROPS_OF_BOND. Unknown numbers are null. */
json_t *view_drops(const struct pins *pins, unsigned int slot);

#endif
