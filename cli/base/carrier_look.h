/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slaves have carrier, by the bond's own program (bpf/xbond.bpf.c): without bondd, and from
 * any namespace.
 */
#ifndef XBOND_CLI_BASE_CARRIER_LOOK_H
#define XBOND_CLI_BASE_CARRIER_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pins.h"

/* The program, to be closed; -1: there is none. */
int carrier_look_open(const struct pins *pins);
/*
 * Slots with carrier, and slots without. Of the others the kernel has not acted on a change yet.
 * Returns false if the program cannot read the kernel's devices, or may not be run.
 */
bool carrier_look(int fd, const struct pins *pins, uint64_t *ret_up, uint64_t *ret_lost);

#endif
