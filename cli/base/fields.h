/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the JSON objects of view/, numbers and times, for those that print them. */
#ifndef XBOND_CLI_BASE_FIELDS_H
#define XBOND_CLI_BASE_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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

#endif
