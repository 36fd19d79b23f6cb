/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the screen of top with curses. Reads no maps and no keys. */
#ifndef XBOND_CLI_TOP_TOP_DRAW_H
#define XBOND_CLI_TOP_TOP_DRAW_H

#include "cli/top/top_ui.h"

struct top_draw {
	bool blocks; /* the terminal can show block elements */
	size_t page; /* how many rows it showed last */
};

void top_draw_begin(void);
void top_draw(struct top_draw *draw, struct top_ui *ui, const struct top *top);

#endif
