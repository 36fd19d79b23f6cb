/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slaves have carrier, as the programs see it: by the bond's own program (bpf/netdev_look.h).
 * So explain and show are right while bondd is dead, too.
 */
#ifndef XBOND_CLI_BASE_CARRIERS_H
#define XBOND_CLI_BASE_CARRIERS_H

#include <stdint.h>

#include "common/pins.h"

/*
 * The rule of select_live() in the BPF programs: the slots of mask that packets take. All of mask,
 * if the programs cannot read the kernel's devices, or may not be run. For a process that asks of
 * one bond only: what was seen 100 ms ago is good enough.
 */
uint64_t carriers_live(const struct pins *pins, uint64_t mask);
/* The slots without carrier, those without a slave included; none if that cannot be known. */
uint64_t carriers_lost(const struct pins *pins);

#endif
