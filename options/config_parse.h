/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of one configuration file. Called by config_file.c for a file and for each drop-in.
 * Knows nothing of other files; config_file.c looks at the whole.
 */
#ifndef XBOND_OPTIONS_CONFIG_PARSE_H
#define XBOND_OPTIONS_CONFIG_PARSE_H

#include <stdio.h>

#include "options/config_model.h"

/*
 * Adds what the stream says to an empty file, and every mistake to the list. Closes the stream. The
 * first file of a configuration (place.file 0) needs a [bond] section.
 */
void config_parse(struct config_file *file, FILE *stream, struct config_place place,
		  struct config_mistakes *mistakes);

#endif
