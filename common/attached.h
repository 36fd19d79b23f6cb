/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a bond's datapath attached? By what bondd has found, and by the pinned links themselves, so
 * that it can be told while bondd is away. Filters can be seen by netlink only: of these bondd's
 * word is taken.
 */
#ifndef XBOND_COMMON_ATTACHED_H
#define XBOND_COMMON_ATTACHED_H

#include "common/pins.h"

enum attached { ATTACHED, ATTACHED_NOT, ATTACHED_UNKNOWN };

/* The receive program of a member. */
enum attached attached_slave(const struct pins *pins, unsigned int slot);
/* The programs of bond0 and the port side. */
enum attached attached_pair(const struct pins *pins);

#endif
