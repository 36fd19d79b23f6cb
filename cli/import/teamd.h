/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teamd's link watchers, which are xbond's delays and its ARP monitor. */
#ifndef XBOND_CLI_IMPORT_TEAMD_H
#define XBOND_CLI_IMPORT_TEAMD_H

#include "cli/import/import_sources.h"
#include "cli/import/import_tree.h"

extern const struct import_key teamd_watch_keys[];

/* One watcher, or an array of them; of a port: xbond has no monitors for single slaves. */
void teamd_watch(struct import *import, const struct import_tree *tree, struct import_bond *bond,
		 const struct import_node *node, bool of_port);

#endif
