/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a released slave may still be as the bond had it, in words: for the log and for `show`.
 */
#ifndef XBOND_COMMON_RESTORED_H
#define XBOND_COMMON_RESTORED_H

#include <stddef.h>

#include "common/pins.h"

/* One bit of XBOND_RESTORED_*: "MTU". */
const char *restored_name(uint32_t bit);
/* What is left, as a list: "MAC address, MTU". Returns text. */
const char *restored_left(uint32_t restored, char *text, size_t size);

#define RESTORED_TEXT_SIZE 512
/*
 * The same of all slaves of a bond that are no longer members: "l0: MTU; l1: MAC address, MTU"; ""
 * if there are none. Returns text.
 */
const char *restored_left_of(const struct pins *pins, char text[RESTORED_TEXT_SIZE]);

#endif
