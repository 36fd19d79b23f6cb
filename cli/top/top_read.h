/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the bonds from their pinned maps. The maps stay open from one reading to the next, so a
 * reading costs little; bonds and slaves may come and go in between.
 */
#ifndef XBOND_CLI_TOP_TOP_READ_H
#define XBOND_CLI_TOP_TOP_READ_H

#include "cli/top/top_model.h"

/*
 * Fails if the names of the bonds cannot be read, or if the only bond is not there (-ENOENT). A
 * bond that is there but cannot be read has its error in top_bond.error.
 */
int top_read(struct top *top, struct err *err);
void top_close(struct top *top);

#endif
