/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buckets of a bond that send most, while flows move by load, so that they are counted. */
#ifndef XBOND_CLI_TOP_TOP_HOT_H
#define XBOND_CLI_TOP_TOP_HOT_H

#include "cli/top/top_model.h"

/* Call it at each reading of rates. Does nothing to bonds that do not count. */
void top_hot_read(struct top_bond *bond);
void top_hot_free(struct top_bond *bond);
/* One line, or "" if nothing is known. */
void top_hot_words(const struct top_bond *bond, char *ret_text, size_t size);

#endif
