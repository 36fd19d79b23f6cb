/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a source reads: as text of limited size, and directories in their order. Knows no
 * format.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_FILES_H
#define XBOND_CLI_IMPORT_IMPORT_FILES_H

#include "cli/import/import.h"

#define IMPORT_MAX_BYTES (64 << 20) /* of all files of a call */
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
 * and other things than files are left out. None if it is
 * not there. Returns -errno, with a line in err, if it cannot be read.
 */
int import_list_dir(struct import *import, const char *dir, const char *suffix, char ***ret_names,
		    size_t *ret_count, struct err *err);

/*
 * The paths of all files in these directories (the last one is NULL) that end with suffix, sorted
 * by name. Of files of one name only that of the earlier directory counts.
 */
int import_collect(struct import *import, const char *const *dirs, const char *suffix,
		   char ***ret_paths, size_t *ret_count, struct err *err);

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
/* Whether the text is this word, whatever the case of its letters. */
bool import_same(const char *text, const char *word);

#endif
