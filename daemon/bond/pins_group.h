/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The group xbond-xsk, whose members may send and receive by AF_XDP: it gets the pins that the
 * library maps (xsk/choice_open.c), some of them for writing, too. Without the group they are
 * root's alone.
 */
#ifndef XBOND_DAEMON_BOND_PINS_GROUP_H
#define XBOND_DAEMON_BOND_PINS_GROUP_H

#include "daemon/bond/bond.h"

/*
 * From now on these pins of all bonds belong to the group, if there is one. It is looked up once,
 * when all bonds are in place: names may come from the network.
 */
void pins_find_group(struct daemon *daemon);
/* Gives the group this bond's pins. Those that are made anew have no rights yet. */
void pins_give(const struct bond *bond);

#endif
