/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a bond in this folder, for the table in daemon/parts.c. */
#ifndef XBOND_DAEMON_BOND_BOND_PARTS_H
#define XBOND_DAEMON_BOND_BOND_PARTS_H

#include "daemon/bond/part.h"

extern struct part pins_part; /* pins_keep.c */
extern struct part pair_part; /* attach_check.c */

#endif
