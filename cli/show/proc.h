/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond as the kernel's bonding driver has it in /proc/net/bonding/BOND. */
#ifndef XBOND_CLI_SHOW_PROC_H
#define XBOND_CLI_SHOW_PROC_H

#include <jansson.h>

/* bond: the object of view_bond() */
void proc_print(const json_t *bond);

#endif
