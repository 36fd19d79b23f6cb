/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a bond, in words. Pure. */
#ifndef XBOND_CLI_TOP_TOP_PROBLEMS_H
#define XBOND_CLI_TOP_TOP_PROBLEMS_H

#include <jansson.h>

#include "cli/top/top_model.h"

/*
 * An array of sentences, without the bond's name. A slave that is a backup or drained is no
 * problem, nor are packets that it drops because it is. A new reference.
 */
json_t *top_problems(const struct top_bond *bond);

#endif
