/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flags that every call may have, and how a word is known to be a flag. Used by bondctl.c,
 * which obeys them, by help and by complete.
 */
#ifndef XBOND_CLI_BASE_FLAGS_H
#define XBOND_CLI_BASE_FLAGS_H

#include "cli/base/cli.h"

/* The rows of flags_global. */
enum flag_global {
	FLAG_JSON,
	FLAG_RUN_DIR,
	FLAG_BPF_DIR,
	FLAG_CONFIG_DIR,
	FLAG_HELP,
	FLAG_VERSION,
	FLAG_END,
	FLAG_COUNT,
};
extern const struct verb_flag flags_global[FLAG_COUNT + 1];

/* A minus before a digit is a value, which its option will refuse. */
bool flags_looks_like(const char *word);

/*
 * The flag that the word is, in its long or short form; NULL if it is none of these. flags may be
 * NULL. With '=' in the word, ret_argument is what follows, otherwise NULL.
 */
const struct verb_flag *flags_find(const struct verb_flag *flags, const char *word,
				   const char **ret_argument);

/* Sets the directory that this flag is for, if it is for one. */
void flags_set_directory(struct paths *paths, enum flag_global flag, const char *directory);

#endif
