/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML and JSON with the line of each value (libyaml). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import_files.h"
#include "common/err.h"
#include "common/memory.h"

#define WHAT_SIZE 100 /* what a remark shows of a value */
#define WHAT_DEPTH 3
#define MAX_DEPTH 64

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

/* How many levels deeper it is behind this event. */
static int import_tree_step(yaml_event_type_t type)
{
	switch ((unsigned int)type) {
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT: return 1;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: return -1;
	default: return 0;
	}
}

/* libyaml takes ages for what is nested deeply, so its loader does not get that. */
static bool import_tree_is_deep(yaml_parser_t *parser)
{
	yaml_event_t event;
	bool ends = false;
	int depth = 0;

	while (!ends && depth <= MAX_DEPTH && yaml_parser_parse(parser, &event)) {
		depth += import_tree_step(event.type);
		ends = event.type == YAML_STREAM_END_EVENT || event.type == YAML_DOCUMENT_END_EVENT;
		yaml_event_delete(&event);
	}
	return depth > MAX_DEPTH;
}

/* Returns false if there is no memory. */
static bool import_tree_parser(const struct import_file *file, yaml_parser_t *ret_parser)
{
	if (!yaml_parser_initialize(ret_parser))
		return false;
	yaml_parser_set_input_string(ret_parser, (const unsigned char *)file->text,
				     strlen(file->text));
	return true;
}

static int import_tree_load(const struct import_file *file, yaml_document_t *document,
			    struct err *err)
{
	yaml_parser_t parser;
	size_t line;
	bool is_deep;
	int r = 0;

	if (!import_tree_parser(file, &parser))
		return err_set(err, ENOMEM, "out of memory");
	is_deep = import_tree_is_deep(&parser);
	line = parser.mark.line + 1 + (size_t)file->lines_before;
	yaml_parser_delete(&parser);
	if (is_deep)
		return err_set(err, EINVAL, "%s:%zu: it is nested deeper than %d levels",
			       file->path, line, MAX_DEPTH);
	if (!import_tree_parser(file, &parser))
		return err_set(err, ENOMEM, "out of memory");
	if (!yaml_parser_load(&parser, document))
		r = err_set(err, EINVAL, "%s:%zu: %s", file->path,
			    parser.problem_mark.line + 1 + (size_t)file->lines_before,
			    parser.problem ? parser.problem : "cannot be read");
	yaml_parser_delete(&parser);
	return r;
}

static const char *import_tree_key(const struct import_tree *tree, const yaml_node_pair_t *pair)
{
	return import_tree_text(import_tree_node(tree, pair->key));
}

/*
 * Of a key that comes twice the last one is found. Returns a key by which another map is merged,
 * which libyaml does not do; NULL: there is none.
 */
static const yaml_node_t *import_tree_number(struct import *import, struct import_tree *tree)
{
	const yaml_node_t *end = tree->document->nodes.top, *merge = NULL;

	tree->index = (struct import_index){ 0 };
	for (const yaml_node_t *map = tree->document->nodes.start; map < end; map++) {
		if (map->type != YAML_MAPPING_NODE)
			continue;
		for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
		     pair < map->data.mapping.pairs.top; pair++) {
			const yaml_node_t *key = import_tree_node(tree, pair->key);
			const char *text = import_tree_text(key);

			if (!text)
				continue;
			import_index_put(import, &tree->index, map, text, pair);
			if (!merge && !strcmp(text, "<<") &&
			    key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
				merge = key;
		}
	}
	return merge;
}

int import_tree_read(struct import *import, const struct import_file *file,
		     struct import_tree *ret_tree, struct err *err)
{
	const yaml_node_t *merge;
	int r;

	*ret_tree =
		(struct import_tree){ .file = file,
				      .document = import_memory(import, sizeof(yaml_document_t)) };
	r = import_tree_load(file, ret_tree->document, err);
	if (r)
		return r;
	merge = import_tree_number(import, ret_tree);
	if (merge)
		return err_set(err, EINVAL,
			       "%s:%zu: merge keys (<<) are not supported; write out what they add",
			       file->path, merge->start_mark.line + 1 + (size_t)file->lines_before);
	return 0;
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
	ret_node->line.number =
		(int)(key ? key : ret_node->value)->start_mark.line + 1 + tree->file->lines_before;
	ret_node->line.what = import_tree_what(import, tree, ret_node);
	return true;
}

bool import_tree_find(struct import *import, const struct import_tree *tree, const yaml_node_t *map,
		      const char *key, struct import_node *ret_node)
{
	const yaml_node_pair_t *pair = import_index_get(&tree->index, map, key);

	return pair && import_tree_at(import, tree, map,
				      (size_t)(pair - map->data.mapping.pairs.start), ret_node);
}

const char *import_tree_value(const struct import_tree *tree, const yaml_node_t *map,
			      const char *key)
{
	const yaml_node_pair_t *pair = import_index_get(&tree->index, map, key);
	const char *text = pair ? import_tree_text(import_tree_node(tree, pair->value)) : NULL;

	return text ? text : "";
}

static bool import_tree_is(struct import *import, struct import_bond *bond,
			   const struct import_node *node, yaml_node_type_t type, const char *what)
{
	const char *text = import_tree_text(node->value);

	if (node->value->type == type)
		return true;
	if (!text || *text || node->value->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		import_refuse(import, bond, &node->line, "it is no %s", what);
	return false;
}

bool import_tree_is_list(struct import *import, struct import_bond *bond,
			 const struct import_node *node)
{
	return import_tree_is(import, bond, node, YAML_SEQUENCE_NODE, "list");
}

bool import_tree_is_map(struct import *import, struct import_bond *bond,
			const struct import_node *node)
{
	return import_tree_is(import, bond, node, YAML_MAPPING_NODE, "mapping");
}

static void import_tree_keep_last_of(struct import *import, struct import_tree *tree,
				     yaml_node_t *map)
{
	yaml_node_pair_t *kept = map->data.mapping.pairs.start;
	struct import_node node;

	for (size_t i = 0; import_tree_at(import, tree, map, i, &node); i++) {
		yaml_node_pair_t *pair = &map->data.mapping.pairs.start[i];
		const char *key = import_tree_key(tree, pair);

		if (!key || import_index_get(&tree->index, map, key) == pair)
			*kept++ = *pair;
		else
			import_lost(import, NULL, &node.line,
				    "the key is repeated below, and the last one counts");
	}
	map->data.mapping.pairs.top = kept;
}

void import_tree_keep_last(struct import *import, struct import_tree *tree)
{
	for (yaml_node_t *node = tree->document->nodes.start; node < tree->document->nodes.top;
	     node++)
		if (node->type == YAML_MAPPING_NODE)
			import_tree_keep_last_of(import, tree, node);
	import_tree_number(import, tree);
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
