/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only the ethtool ioctl tells. Names are resolved in the namespace of the process. */
#ifndef XBOND_NETWORK_ETHTOOL_H
#define XBOND_NETWORK_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ethtool {
	int fd;
	signed char mask_words; /* length of this kernel's link mode masks; 0: not known yet */
};

int ethtool_init(struct ethtool *ethtool);
void ethtool_done(struct ethtool *ethtool);

/* request begins with its ETHTOOL_* command; 0 or more, or -errno. */
int ethtool_call(const struct ethtool *ethtool, const char *name, void *request);

/*
 * Returns 1 for carrier, 0 for none, -errno if unknown. Fresher than a link message, because the
 * driver is asked.
 */
int ethtool_carrier(const struct ethtool *ethtool, const char *name);
/* Is it an SR-IOV virtual function? Its host decides what it may receive and send. */
bool ethtool_is_virtual_function(const struct ethtool *ethtool, const char *name);
/* speed in Mbit/s, 0 unknown; duplex 0 half, 1 full, 255 unknown. */
void ethtool_speed(struct ethtool *ethtool, const char *name, uint32_t *ret_mbps,
		   uint32_t *ret_duplex);

#endif
