/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond's policy of the user, as the pinned maps have it (bpf/policy_ask.h). bondctl loads it;
 * bondd gives the bond the programs that ask it.
 */
#ifndef XBOND_COMMON_POLICY_PINS_H
#define XBOND_COMMON_POLICY_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/* Prefix of the pins of a policy's maps while bondctl is loading it. */
#define POLICY_MAPS_STAGED "new_" XBOND_PIN_POLICY_MAPS
#define POLICY_NAME_SIZE 16 /* BPF_OBJ_NAME_LEN */

struct policy_program {
	uint32_t id; /* the kernel's number; 0: there is none */
	char name[POLICY_NAME_SIZE];
	uint8_t tag[8];
};

/*
 * The program in XBOND_PIN_POLICY or XBOND_PIN_POLICY_XDP of a bond; dir: of its pins. The name is
 * empty if this process may not ask for it. Returns false if there is none.
 */
bool policy_program(const char *dir, const char *pin, struct policy_program *ret_program);
bool policy_is_loaded(const char *dir);
/* Is the map one of those of the program in this map of programs? Both are descriptors. */
bool policy_uses_map(int programs_fd, int map_fd);
/*
 * Is this one of the bond's programs that choose a slave, and does it ask a policy? By the kernel's
 * number of the program; false also if this process may not ask for it.
 */
bool policy_is_asked_by(uint32_t program_id);

#endif
