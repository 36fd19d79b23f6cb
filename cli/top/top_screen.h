/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `top` on a terminal: reads the bonds, draws them and obeys keys until the user has enough. */
#ifndef XBOND_CLI_TOP_TOP_SCREEN_H
#define XBOND_CLI_TOP_TOP_SCREEN_H

#include "cli/base/cli.h"
#include "cli/top/top_model.h"

/* The bonds have been read once. */
enum cli_exit top_screen(const struct cli *cli, struct top *top, unsigned int interval_ms);

#endif
