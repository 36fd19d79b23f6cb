/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond as it is at one moment, and what is wrong with it, for all verbs that show bonds. */
#ifndef XBOND_CLI_BASE_PICTURE_H
#define XBOND_CLI_BASE_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/pins.h"
#include "network/link.h"
#include "view/view_bond.h"

/*
 * Which slaves have carrier, by the bond's own program (bpf/xbond.bpf.c): without bondd, and from
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

/* What is wrong with a bond, in sentences, from its JSON object. */

/*
 * An array of texts, the most important first; empty if nothing is known to be wrong. A new
 * reference. is_down: the bond is administratively down. bondd: whether it serves the bond. Its
 * object has neither.
 */
json_t *news_bad(const json_t *bond, bool is_down, enum view_bondd bondd);

/* The state of the slave's link, in a word or two. */
const char *news_link(const json_t *slave);
/* What the bond uses the slave for, in a word or two. */
const char *news_role(const json_t *bond, const json_t *slave);
/* The one of them that says more: what it is used for while its link works. */
const char *news_state(const json_t *bond, const json_t *slave);
/* Not in use, although nobody has asked for that. */
bool news_is_unused(const json_t *bond, const json_t *slave);

/*
 * Why a bond with `path direct` counts at present (XBOND_F_FORCE_COUNTED), in the words of show and
 * doctor. Goes by what the kernel says of the bond's device, in the order of
 * bypass_forbids_direct(); what is left are filters.
 */

/* link: NULL if the device is not in this network namespace. */
const char *counted_why(const struct link_info *link, bool is_captured);
/* The same for a caller that knows no more than the name, and perhaps may not see captures. */
const char *counted_why_now(const char *bond);

#endif
