/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as it is at one moment: a copy of those maps that decide what its slaves are used for.
 * While bondd does not serve the bond, these maps are old, but what the programs do is known: then
 * slaves that have lost carrier are down in the copy, and the programs avoid them. For all verbs
 * that show bonds.
 */
#ifndef XBOND_CLI_BASE_PICTURE_H
#define XBOND_CLI_BASE_PICTURE_H

#include "common/pins.h"
#include "view/view_bond.h"

struct picture;

/* has_socket: bondd accepts connections. */
enum view_bondd picture_bondd(const struct pins *pins, bool has_socket);

struct picture *picture_take(const struct pins *pins, enum view_bondd bondd);
/* As the pins that were copied; what is not copied is theirs. */
const struct pins *picture_pins(const struct picture *picture);
void picture_free(struct picture *picture);

#endif
