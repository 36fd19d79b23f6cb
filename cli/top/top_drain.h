/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drains a slave, or ends its drain, as `bondctl set-slave BOND DEV drain` does. */
#ifndef XBOND_CLI_TOP_TOP_DRAIN_H
#define XBOND_CLI_TOP_TOP_DRAIN_H

#include "cli/top/top_model.h"

/* Always leaves a line for the user: what was done, or why not. */
void top_drain(struct top *top, const char *run_dir, const char *bond, const char *slave,
	       bool drain, char ret_line[TOP_MESSAGE]);

#endif
