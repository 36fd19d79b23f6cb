/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a bond, in sentences, from its JSON object. */
#ifndef XBOND_CLI_BASE_NEWS_H
#define XBOND_CLI_BASE_NEWS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * An array of texts, the most important first; empty if the bond is in order. A new reference.
 * is_down: the bond is administratively down, which its object does not have.
 */
json_t *news_bad(const json_t *bond, bool is_down);

/* What it means that bondd is away. */
const char *news_no_bondd(const json_t *bond);

/* What the bond uses the slave for, in a word or two. */
const char *news_role(const json_t *bond, const json_t *slave);
/* Not in use, although nobody has asked for that. */
bool news_is_unused(const json_t *bond, const json_t *slave);

#endif
