/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a bond's datapath attached? Answers from what bondd has found and from the pinned links
 * themselves, so that it works while bondd is away. Filters are visible by netlink only; for these
 * the answer is bondd's last finding.
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
