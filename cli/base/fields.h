/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the JSON objects of view/, for those that print them as text. */
#ifndef XBOND_CLI_BASE_FIELDS_H
#define XBOND_CLI_BASE_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
