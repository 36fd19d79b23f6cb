/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `top --once`: one table, or JSON, of one interval. */
#ifndef XBOND_CLI_TOP_TOP_ONCE_H
#define XBOND_CLI_TOP_TOP_ONCE_H

#include "cli/base/cli.h"
#include "cli/top/top_model.h"

/* The bonds have been read once. */
enum cli_exit top_once(const struct cli *cli, struct top *top, unsigned int interval_ms);

#endif
