/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Version 1 of cloud-init's network configuration: a list of devices, each with its type. */
#ifndef XBOND_CLI_IMPORT_CLOUD_INIT_H
#define XBOND_CLI_IMPORT_CLOUD_INIT_H

#include "cli/import/import_tree.h"

/* Takes the bonds of a document of version 1; nothing happens if it is of another one. */
void cloud_init_take(struct import *import, struct import_tree *tree, const yaml_node_t *network);

#endif
