/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-alb: how many neighbours send to each slave. */
#ifndef XBOND_VIEW_VIEW_CLIENTS_H
#define XBOND_VIEW_VIEW_CLIENTS_H

#include <jansson.h>

#include "common/pins.h"

/*
 * Adds `clients` to each slave of that array, which has the members in the order of their slots,
 * and `clients_refused` to the bond.
 */
void view_set_clients(json_t *bond, json_t *slaves, const struct pins *pins);

#endif
