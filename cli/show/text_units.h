/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in short units: at most three digits and a prefix, as "12.3M". */
#ifndef XBOND_CLI_SHOW_TEXT_UNITS_H
#define XBOND_CLI_SHOW_TEXT_UNITS_H

#include <stddef.h>

#define UNITS_SIZE 24

/* The prefixes are powers of 1000. */
const char *units_format(unsigned long long number, char ret_text[UNITS_SIZE]);

#endif
