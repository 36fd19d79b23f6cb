/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"

#define WHAT_SIZE 100 /* what a remark shows of a value */
#define WHAT_DEPTH 3

int import_tree_read(struct import *import, const struct import_file *file,
		     struct import_tree *ret_tree, struct err *err)
{
	yaml_parser_t parser;
	int r = 0;

	*ret_tree = (struct import_tree){ file, import_memory(import, sizeof(yaml_document_t)) };
	if (!yaml_parser_initialize(&parser))
		return err_set(err, ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)file->text,
				     strlen(file->text));
	if (!yaml_parser_load(&parser, ret_tree->document))
		r = err_set(err, EINVAL, "%s:%zu: %s", file->path, parser.problem_mark.line + 1,
			    parser.problem ? parser.problem : "cannot be read");
	yaml_parser_delete(&parser);
	return r;
}

void import_tree_done(struct import_tree *tree)
{
	if (tree->document)
		yaml_document_delete(tree->document);
	tree->document = NULL;
}

const yaml_node_t *import_tree_root(const struct import_tree *tree)
{
	return yaml_document_get_root_node(tree->document);
}

const char *import_tree_text(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static const yaml_node_t *import_tree_node(const struct import_tree *tree, int index)
{
	return yaml_document_get_node(tree->document, index);
}

static size_t import_tree_count(const yaml_node_t *node)
{
	if (node->type == YAML_MAPPING_NODE)
		return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	if (node->type == YAML_SEQUENCE_NODE)
		return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	return 0;
}

static void import_tree_words(const struct import_tree *tree, const yaml_node_t *node, int depth,
			      FILE *file)
{
	const char *text = import_tree_text(node);
	bool is_map = node->type == YAML_MAPPING_NODE;

	if (text) {
		fputs(text, file);
		return;
	}
	fputs(is_map ? "{" : "[", file);
	for (size_t i = 0; i < import_tree_count(node) && ftell(file) < WHAT_SIZE; i++) {
		int item = is_map ? node->data.mapping.pairs.start[i].value
				  : node->data.sequence.items.start[i];
		const char *key = is_map ? import_tree_text(import_tree_node(
						   tree, node->data.mapping.pairs.start[i].key))
					 : NULL;

		fprintf(file, "%s%s%s", i ? ", " : "", key ? key : "", is_map ? ": " : "");
		if (depth < WHAT_DEPTH)
			import_tree_words(tree, import_tree_node(tree, item), depth + 1, file);
		else
			fputs("...", file);
	}
	fputs(is_map ? "}" : "]", file);
}

/* "key: value" in one line, of limited length. */
static const char *import_tree_what(struct import *import, const struct import_tree *tree,
				    const struct import_node *node)
{
	char *words = NULL;
	const char *what;
	size_t size;
	FILE *file = memory_need(open_memstream(&words, &size));

	import_tree_words(tree, node->value, 0, file);
	fclose(file);
	what = import_text(import, "%s%s%.*s%s", node->key, *node->key && *words ? ": " : "",
			   WHAT_SIZE, words, size > WHAT_SIZE ? "..." : "");
	free(words);
	return what;
}

bool import_tree_at(struct import *import, const struct import_tree *tree, const yaml_node_t *node,
		    size_t i, struct import_node *ret_node)
{
	const yaml_node_t *key = NULL;

	if (!node || i >= import_tree_count(node))
		return false;
	*ret_node = (struct import_node){ .key = "" };
	if (node->type == YAML_MAPPING_NODE) {
		key = import_tree_node(tree, node->data.mapping.pairs.start[i].key);
		ret_node->key = import_tree_text(key) ? import_tree_text(key) : "?";
		ret_node->value = import_tree_node(tree, node->data.mapping.pairs.start[i].value);
	} else {
		ret_node->value = import_tree_node(tree, node->data.sequence.items.start[i]);
	}
	ret_node->line.file = tree->file;
	ret_node->line.number = (int)(key ? key : ret_node->value)->start_mark.line + 1;
	ret_node->line.what = import_tree_what(import, tree, ret_node);
	return true;
}

bool import_tree_find(struct import *import, const struct import_tree *tree, const yaml_node_t *map,
		      const char *key, struct import_node *ret_node)
{
	size_t i = map && map->type == YAML_MAPPING_NODE ? import_tree_count(map) : 0;

	while (i--) {
		const char *name = import_tree_text(
			import_tree_node(tree, map->data.mapping.pairs.start[i].key));

		if (name && !strcmp(name, key))
			return import_tree_at(import, tree, map, i, ret_node);
	}
	return false;
}

const char *import_tree_list(struct import *import, const struct import_tree *tree,
			     const yaml_node_t *node)
{
	const char *text = import_tree_text(node);
	char *list = NULL;
	size_t size;
	FILE *file;

	if (text)
		return text;
	file = memory_need(open_memstream(&list, &size));
	for (size_t i = 0; node->type == YAML_SEQUENCE_NODE && i < import_tree_count(node); i++) {
		text = import_tree_text(import_tree_node(tree, node->data.sequence.items.start[i]));
		fprintf(file, "%s%s", i ? "," : "", text ? text : "");
	}
	fclose(file);
	text = import_text(import, "%s", list);
	free(list);
	return text;
}
