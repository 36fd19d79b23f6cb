/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slaves have carrier, as the programs see it: by the bond's own program (bpf/xbond.bpf.c).
 * So explain is right while bondd is dead, too.
 */
#ifndef XBOND_CLI_BASE_CARRIERS_H
#define XBOND_CLI_BASE_CARRIERS_H

#include <stdint.h>

#include "common/pins.h"

/*
 * The rule of select_live() in the BPF programs: the slots of mask that packets take. All of mask,
 * if the programs cannot read the kernel's devices, or may not be run.
 */
uint64_t carriers_live(const struct pins *pins, uint64_t mask);

#endif
