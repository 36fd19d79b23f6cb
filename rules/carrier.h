/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link state of one slave: its carrier, delayed by updelay and downdelay. Pure; the caller
 * gives the time.
 */
#ifndef XBOND_RULES_CARRIER_H
#define XBOND_RULES_CARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct carrier_input {
	bool carrier;
	bool needed; /* no other slave is up: updelay is skipped, as kernel bonding does */
	uint64_t now_ns;
	uint32_t updelay_ms;
	uint32_t downdelay_ms;
};

struct carrier_state {
	enum xbond_link link;
	uint64_t deadline_ns; /* end of the running delay; 0: none */
};

struct carrier_state carrier_next(struct carrier_state state, const struct carrier_input *input);

#endif
