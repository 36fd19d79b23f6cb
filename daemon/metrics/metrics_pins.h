/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of all bonds, kept open from one answer to the next, because opening them takes
 * most of an answer's time. They are closed when nobody has asked for a while.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_PINS_H
#define XBOND_DAEMON_METRICS_METRICS_PINS_H

#include "common/pins.h"

struct metrics_pins;

/* bpf_dir stays in use. */
struct metrics_pins *metrics_pins_new(const char *bpf_dir);
void metrics_pins_free(struct metrics_pins *all);

/* As pins_names(). */
int metrics_pins_names(const struct metrics_pins *all, char ***ret_names);
/*
 * As pins_open(). The pins are valid until metrics_pins_close_unused(), and stay the property of
 * `all`.
 */
int metrics_pins_find(struct metrics_pins *all, const char *name, const struct pins **ret_pins);
/* As pins_abi(). */
uint32_t metrics_pins_abi(const struct metrics_pins *all, const char *name);
/* Closes what nobody has asked for lately. Returns whether any are open still. */
bool metrics_pins_close_unused(struct metrics_pins *all);

#endif
