/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teamd's configuration; its link watchers are xbond's delays and its ARP monitor. */
#ifndef XBOND_CLI_IMPORT_TEAMD_H
#define XBOND_CLI_IMPORT_TEAMD_H

#include "cli/import/import_sources.h"
#include "cli/import/import_tree.h"

extern const struct import_key teamd_watch_keys[];

/* One watcher, or an array of them; of a port: xbond has no monitors for single slaves. */
void teamd_watch(struct import *import, const struct import_tree *tree, struct import_bond *bond,
		 const struct import_node *node, bool of_port);
/* When all watchers are taken: what it takes for a link to be up if they differ. */
void teamd_watch_policy(struct import *import, const struct import_tree *tree,
			struct import_bond *bond);

/*
 * A configuration of teamd, or with slave that of a port, that is within a file of another tool.
 * What is no JSON object refuses the bond.
 */
void teamd_take_text(struct import *import, struct import_bond *bond, struct import_slave *slave,
		     const char *json, const struct import_line *line);

#endif
