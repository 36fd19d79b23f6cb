/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in short units. */
#ifndef XBOND_CLI_BASE_TEXT_UNITS_H
#define XBOND_CLI_BASE_TEXT_UNITS_H

#define UNITS_SIZE 24

/* At most three digits and a prefix, which is a power of 1000: "12.3M". */
const char *units_format(unsigned long long number, char ret_text[UNITS_SIZE]);

/* "3 min": the largest unit that is not zero. */
const char *units_duration(long long ms, char ret_text[UNITS_SIZE]);

#endif
