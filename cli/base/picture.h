/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond as it is at one moment, for all verbs that show bonds. */
#ifndef XBOND_CLI_BASE_PICTURE_H
#define XBOND_CLI_BASE_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pins.h"
#include "view/view_bond.h"

/*
 * Which slaves have carrier, by the bond's own program (bpf/netdev_look.h): without bondd, and from
 * any namespace.
 */

/* The program, to be closed; -1: there is none. */
int carrier_look_open(const struct pins *pins);
/*
 * Slots with carrier, and slots without. Of the others the kernel has not acted on a change yet.
 * Returns false if the program cannot read the kernel's devices, or may not be run.
 */
bool carrier_look(int fd, const struct pins *pins, uint64_t *ret_up, uint64_t *ret_lost);

/*
 * A copy of those maps that decide what the slaves are used for. While bondd does not serve the
 * bond, these maps are old, but what the programs do is known: then slaves that have lost carrier
 * are down in the copy, and the programs avoid them.
 */

struct picture;

/* has_socket: bondd accepts connections. */
enum view_bondd picture_bondd(const struct pins *pins, bool has_socket);

struct picture *picture_take(const struct pins *pins, enum view_bondd bondd);
/* As the pins that were copied; what is not copied is theirs. */
const struct pins *picture_pins(const struct picture *picture);
void picture_free(struct picture *picture);

/*
 * Asks bondd for what the pinned maps would tell, for members of the group xbond who cannot read
 * them: after opening the maps was refused.
 */

/* Sorted names with NULL at the end; release them with pins_names_free(). */
int ask_names(const char *run_dir, char ***ret_names, struct err *err);
/* method: "show" or "stats". *ret_view is a new reference. */
int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
	     bool *ret_forced_counted, struct err *err);

#endif
