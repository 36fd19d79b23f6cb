/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of the maps as JSON. Unknown values become null. All functions return new references. */
#ifndef XBOND_VIEW_JSON_VALUE_H
#define XBOND_VIEW_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

/* How real numbers are written: rates and shares are not known any better. */
#define JSON_VALUE_REALS JSON_REAL_PRECISION(10)

/*
 * "" is unknown. Control characters become '?'. So do all non-ASCII characters if the text is not
 * UTF-8.
 */
json_t *json_value_text(const char *text);
/* 0 is unknown. */
json_t *json_value_number(uint64_t number);
/* All zero is unknown. */
json_t *json_value_mac(const uint8_t *mac);
/* How long ago that was, by clock_now_ns(); 0 if it is to come. */
json_t *json_value_since_ms(uint64_t since_ns);

#endif
