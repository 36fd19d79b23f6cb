/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slaves may transmit after one of them has failed, by the pinned maps and the rules of bondd
 * and of the LACP machines. Called by foretell.c and simulate.
 */
#ifndef XBOND_CLI_BASE_AFTERMATH_H
#define XBOND_CLI_BASE_AFTERMATH_H

#include "common/pins.h"

/* Slots. Drained ones are among them. */
struct aftermath {
	uint64_t at_once; /* from the next packet on */
	uint64_t settled; /* when bondd has acted, and ports of 802.3ad that stood by take part */
	/*
	 * 802.3ad: other ports that are selected then. Whether their partners let them transmit,
	 * and how soon, cannot be known here.
	 */
	uint64_t unsure;
};

struct aftermath aftermath_of(const struct pins *pins, unsigned int failed);

#endif
