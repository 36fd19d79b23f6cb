/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a bond has dropped, by reason. What devices drop, its slaves and bond0 among them, is in
 * their own counters.
 */
#ifndef XBOND_COMMON_DROPS_H
#define XBOND_COMMON_DROPS_H

#include "common/pins.h"

#define DROPS_UNKNOWN UINT64_MAX

/* For scripts, such as "inactive", and what people read behind "dropped 5: ". */
const char *drops_name(enum xbond_drop reason);
const char *drops_words(enum xbond_drop reason);

/* Is it counted for the bond as a whole? All others are counted for each slave. */
static inline bool drops_is_of_bond(enum xbond_drop reason)
{
	return reason == XBOND_DROP_NO_SLAVE;
}

/* Is it of control packets, such as LACPDUs? Only these drops say that something is wrong. */
bool drops_is_of_control(enum xbond_drop reason);

/*
 * What has been dropped since the slot got its device; slot XBOND_DROPS_OF_BOND: since the bond was
 * made. DROPS_UNKNOWN: an earlier build made the bond, or it cannot be read.
 */
void drops_read(const struct pins *pins, unsigned int slot, uint64_t ret_packets[XBOND_DROPS]);

#endif
