/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a source reads: text, lines, sections with KEY=VALUE, YAML and JSON. */
#ifndef XBOND_CLI_IMPORT_IMPORT_FILES_H
#define XBOND_CLI_IMPORT_IMPORT_FILES_H

#include <yaml.h>

#include "cli/import/import.h"

/*
 * The files that a source reads: as text of limited size, and directories in their order. Knows no
 * format.
 */

#define IMPORT_MAX_FILES 4096

/*
 * Under this path, with text that the caller has, without the byte order mark that some editors put
 * before it; what comes behind a NUL character is cut.
 */
const struct import_file *import_file_of(struct import *import, const char *path, const char *text,
					 size_t size);
/* A part of it, with as many of its lines before it; text need not be within the file's. */
const struct import_file *import_file_part(struct import *import, const struct import_file *file,
					   const char *text, size_t size, int lines_before);
/* Returns -errno, with a line in err: also of a file with a NUL byte, which is no text. */
int import_file_read(struct import *import, const char *path, const struct import_file **ret_file,
		     struct err *err);

/* The path with the root before it. */
const char *import_path(struct import *import, const char *path);
bool import_is_dir(const char *path);

/*
 * The names of the files and directories in a directory that end with suffix, sorted; hidden ones
 * and other things than files are left out. None if it is not there. Returns -errno, with a line in
 * err, if it cannot be read.
 */
int import_list_dir(struct import *import, const char *dir, const char *suffix, char ***ret_names,
		    size_t *ret_count, struct err *err);

/*
 * The paths of all files in these directories (the last one is NULL) that end with suffix, sorted
 * by name. Of files of one name only that of the earlier directory counts.
 */
int import_collect(struct import *import, const char *const *dirs, const char *suffix,
		   char ***ret_paths, size_t *ret_count, struct err *err);

/*
 * Reads the files that are given, and those in directories that are given, or in `own` if nothing
 * is: one suffix after another, as import_collect() has them. The last one of each list is NULL.
 * Ends with the first error.
 */
int import_read_files(struct import *import, const struct import_request *request,
		      const char *const *own, const char *const *suffixes,
		      int (*read)(void *context, const char *path, struct err *err), void *context,
		      struct err *err);

/* What a backslash at the end of a line does. Comments are of one line in any case. */
enum import_joins {
	IMPORT_JOINS_NOT,
	IMPORT_JOINS,	      /* it goes, and the next line follows */
	IMPORT_JOINS_BY_SPACE /* it becomes a space; comments between the lines are passed over */
};

/* The lines of a text, one after another. */
struct import_lines {
	const char *rest;
	enum import_joins joins;
	const char *comments; /* the characters that begin one, if lines are joined */
	int number;	      /* of the last one that was returned; of joined ones the first */
	int read;
};

/* A copy of the next line without its end; NULL behind the last one. */
char *import_next_line(struct import *import, struct import_lines *lines);
/* Without white space at both ends. Changes the text. */
char *import_strip(char *text);
/* Cuts the next word off *text; NULL behind the last one. Changes the text. */
char *import_next_word(char **text, const char *separators);
bool import_ends_with(const char *text, const char *end);
/* Whether it is one of these words; NULL is behind the last one. */
bool import_is_among(const char *text, const char *const *words);
#define import_is_one_of(text, ...) \
	import_is_among(text, (const char *const[]){ __VA_ARGS__, NULL })

/*
 * Files of sections with lines KEY=VALUE, as systemd and NetworkManager have them. libinih, which
 * reads xbond's own files, does not tell lines and joins what these do not.
 */

struct import_ini_entry {
	const char *section; /* "" before the first one */
	const char *key, *value;
	const char *variable; /* of the shell, that the entry is made of; NULL: it is none */
	struct import_line line;
};

struct import_ini {
	struct import_ini_entry *entries;
	size_t count;
	struct import_index variables; /* those that entries were made of, by their names */
};

#define import_for_each_entry(entry, ini)                           \
	for (const struct import_ini_entry *entry = (ini)->entries; \
	     entry && entry < (ini)->entries + (ini)->count; entry++)

/* Adds what the file has. */
void import_ini_read(struct import *import, const struct import_file *file, enum import_joins joins,
		     struct import_ini *ini);
/* A file of systemd's, and its drop-ins, which are below these directories in NAME.d. */
int import_ini_read_unit(struct import *import, const char *path, const char *const *dirs,
			 struct import_ini *ini, struct err *err);
void import_ini_add(struct import *import, struct import_ini *ini,
		    const struct import_ini_entry *entry);
/* The last entry of that section and key; NULL if there is none. */
const struct import_ini_entry *import_ini_find(const struct import_ini *ini, const char *section,
					       const char *key);
/* Its value; "" if there is none. */
const char *import_ini_value(const struct import_ini *ini, const char *section, const char *key);
/* The values of all its entries, with spaces between them; an empty one ends the list so far. */
char *import_ini_list(struct import *import, const struct import_ini *ini, const char *section,
		      const char *key);
bool import_ini_has_section(const struct import_ini *ini, const char *section);

/*
 * YAML, and JSON, which is YAML too, with the line of each value (libyaml). Aliases are followed,
 * not expanded, so a document can be a graph with circles: who walks it goes a fixed way down.
 */

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
/* That of a key; "" if there is no such key, or it is no scalar. */
const char *import_tree_value(const struct import_tree *tree, const yaml_node_t *map,
			      const char *key);
/* The items of a sequence with commas between them; a scalar as it is. */
const char *import_tree_list(struct import *import, const struct import_tree *tree,
			     const yaml_node_t *node);

#endif
