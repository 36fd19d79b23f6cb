/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a bond's pins: bondd holds a descriptor of each, so that nothing ends when somebody
 * removes a pin, the bond's directory, or unmounts the BPF file system. Pins them again.
 */
#ifndef XBOND_DAEMON_BOND_PINS_KEEP_H
#define XBOND_DAEMON_BOND_PINS_KEEP_H

#include "daemon/bond/bond.h"

/* Now and then; one system call while nothing has changed. False: there is no place to pin them. */
bool pins_keep(struct bond *bond);
/* The bond ends, or is left to the next bondd. */
void pins_keep_nothing(struct bond *bond);

#endif
