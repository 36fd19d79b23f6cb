/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mistakes of a configuration file, all of them, each with its place. The readers of files fill
 * the list; bondd logs it and `bondctl check` prints it.
 */
#ifndef XBOND_OPTIONS_CONFIG_MISTAKES_H
#define XBOND_OPTIONS_CONFIG_MISTAKES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define CONFIG_MISTAKES_MAX 200 /* so many are kept; who reads more? */
#define CONFIG_MISTAKE_SIZE 1400

struct config_mistake {
	char *text; /* "PATH:LINE: why", one line without control characters */
	size_t path_length;
	unsigned int file; /* as in struct config_place */
	int line;
	/* The file is taken all the same. */
	bool is_warning;
};

struct config_mistakes {
	struct config_mistake list[CONFIG_MISTAKES_MAX];
	size_t count;
	size_t errors; /* those that are no warnings, also those that are not kept */
	size_t left_out;
};

struct config_place {
	const char *path;  /* belongs to struct config_file */
	unsigned int file; /* its number, in the order in which the files are read */
	int line;	   /* 0: the file as a whole */
};

/* Only the first mistake of a line is kept. */
void config_mistakes_add(struct config_mistakes *mistakes, struct config_place place,
			 const char *why);
void config_mistakes_warn(struct config_mistakes *mistakes, struct config_place place,
			  const char *format, ...) __attribute__((format(printf, 3, 4)));
/* By file and line. */
void config_mistakes_sort(struct config_mistakes *mistakes);
/* The first one that is no warning becomes the line in err. */
int config_mistakes_first(const struct config_mistakes *mistakes, int code, struct err *err);
/* What stands behind "PATH:LINE: ". */
const char *config_mistake_why(const struct config_mistake *mistake);
void config_mistakes_free(struct config_mistakes *mistakes);

#endif
