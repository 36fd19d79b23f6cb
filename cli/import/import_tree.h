/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML, and JSON, which is YAML too, with the line of each value (libyaml). Aliases are followed,
 * not expanded, so a document can be a graph with circles: who walks it goes a fixed way down.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_TREE_H
#define XBOND_CLI_IMPORT_IMPORT_TREE_H

#include <yaml.h>

#include "cli/import/import.h"

struct import_tree {
	const struct import_file *file;
	yaml_document_t *document;
	struct import_index index; /* the values of all maps by their keys */
};

/*
 * Only the first document of a file counts; an empty file has no root. Returns -EINVAL, with
 * "PATH:LINE: why" in err: also of what is nested deeper than any tool's file, and of merge keys
 * (<<). Ends with import_tree_done(), also after a failure.
 */
int import_tree_read(struct import *import, const struct import_file *file,
		     struct import_tree *ret_tree, struct err *err);
/* For the tools that of a key that comes twice take the last: the others go, and are remarked. */
void import_tree_keep_last(struct import *import, struct import_tree *tree);
void import_tree_done(struct import_tree *tree);

const yaml_node_t *import_tree_root(const struct import_tree *tree);

/* A key of a map with its value, or an item of a sequence. */
struct import_node {
	const char *key; /* "" of an item */
	const yaml_node_t *value;
	struct import_line line;
};

/* The i-th pair of a map or item of a sequence. Returns false behind the last one. */
bool import_tree_at(struct import *import, const struct import_tree *tree, const yaml_node_t *node,
		    size_t i, struct import_node *ret_node);
/* Returns false if it is no map, or has no such key. Of a key that comes twice the last counts. */
bool import_tree_find(struct import *import, const struct import_tree *tree, const yaml_node_t *map,
		      const char *key, struct import_node *ret_node);
/*
 * Whether the value is a sequence or a mapping, as it has to be. Of another one, but an empty one,
 * the bond is refused.
 */
bool import_tree_is_list(struct import *import, struct import_bond *bond,
			 const struct import_node *node);
bool import_tree_is_map(struct import *import, struct import_bond *bond,
			const struct import_node *node);
/* NULL if it is no scalar. */
const char *import_tree_text(const yaml_node_t *node);
/* The items of a sequence with commas between them; a scalar as it is. */
const char *import_tree_list(struct import *import, const struct import_tree *tree,
			     const yaml_node_t *node);

#endif
