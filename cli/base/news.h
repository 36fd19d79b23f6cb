/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a bond, in sentences, from its JSON object. */
#ifndef XBOND_CLI_BASE_NEWS_H
#define XBOND_CLI_BASE_NEWS_H

#include <jansson.h>
#include <stdbool.h>

#include "network/link.h"
#include "view/view_bond.h"

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
 * bond_forbids_direct(); what is left are filters.
 */

/* link: NULL if the device is not in this network namespace. */
const char *counted_why(const struct link_info *link, bool is_captured);
/* The same for a caller that knows no more than the name, and perhaps may not see captures. */
const char *counted_why_now(const char *bond);

#endif
