/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a bond's pins. bondd holds a descriptor of each, so nothing ends when somebody removes a
 * pin or the bond's directory, or unmounts the BPF file system. Then bondd pins them again.
 */
#ifndef XBOND_DAEMON_BOND_PINS_KEEP_H
#define XBOND_DAEMON_BOND_PINS_KEEP_H

#include "daemon/bond/bond.h"
#include "daemon/bond/part.h"

/*
 * Called from time to time; takes one system call while nothing has changed. Returns false if there
 * is no place to pin them.
 */
bool pins_keep(struct bond *bond);

extern struct part pins_part;

#endif
