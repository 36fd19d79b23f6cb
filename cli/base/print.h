/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How verbs print: fields, numbers and times as text; on a terminal colours and 80 columns. */
#ifndef XBOND_CLI_BASE_PRINT_H
#define XBOND_CLI_BASE_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Fields of the JSON objects of view/. */

/* 0 if it is unknown. */
long long field_number(const json_t *object, const char *key);
long long field_number_or(const json_t *object, const char *key, long long unknown);
/* The second is NULL if it is unknown; the first is "unknown". */
const char *field_text(const json_t *object, const char *key);
const char *field_text_or(const json_t *object, const char *key, const char *unknown);
bool field_is_true(const json_t *object, const char *key);

/* The value of an option as a user would write it. size: OPTION_TEXT_SIZE. */
void field_option_text(const json_t *value, char *ret_text, size_t size);
/* The number that the kernel and the maps have for the value of this option of the bond. */
uint32_t field_option_number(const json_t *bond, const char *option);

/* Numbers in short units. */

#define UNITS_SIZE 24

/* At most three digits and a prefix, which is a power of 1000: "12.3M". */
const char *units_format(unsigned long long number, char ret_text[UNITS_SIZE]);

/* "3 min": the largest unit that is not zero. */
const char *units_duration(long long ms, char ret_text[UNITS_SIZE]);

/* The time of a packet as people and scripts read it. */

#define CLOCK_TEXT 32

/* "12:34:56.123456", local time. Returns ret_text. */
const char *clock_text(const struct timespec *time, char ret_text[CLOCK_TEXT]);
/* "1700000000.123456789": seconds of Unix time. Returns ret_text. */
const char *clock_text_unix(const struct timespec *time, char ret_text[CLOCK_TEXT]);

/*
 * Colours on a terminal. None if standard output is something else, if the environment has
 * NO_COLOR, or if TERM is "dumb" or not set.
 */

enum style { STYLE_PLAIN, STYLE_NAME, STYLE_GOOD, STYLE_BAD, STYLE_FAINT };

void style_init(void);
/* Prints the text, and spaces up to the width. */
void style_print(enum style style, int width, const char *text);

/*
 * What bondctl writes to a terminal fits into 80 columns: longer lines are broken between words.
 * Elsewhere a sentence is one line, for grep. Verbs print as if there were no columns.
 */

#define TEXT_WIDTH 80

/* From now on standard output and standard error are broken into lines where they are terminals. */
void text_wrap_begin(void);
/* No longer standard output, for what must stay as it is: files, full screens. */
void text_wrap_end(void);

#endif
