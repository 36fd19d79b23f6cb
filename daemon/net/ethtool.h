/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only ethtool's ioctl tells. Names are resolved in our own namespace. */
#ifndef XBOND_DAEMON_NET_ETHTOOL_H
#define XBOND_DAEMON_NET_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ethtool {
	int fd;
	signed char mask_words; /* how long this kernel's link mode masks are; 0: not known yet */
};

int ethtool_init(struct ethtool *ethtool);
void ethtool_done(struct ethtool *ethtool);

/* request begins with its ETHTOOL_* command; 0 or more, or -errno. */
int ethtool_call(const struct ethtool *ethtool, const char *name, void *request);

/* 1 carrier, 0 none, -errno unknown. Fresher than a link message: the driver is asked. */
int ethtool_carrier(const struct ethtool *ethtool, const char *name);
/* An SR-IOV virtual function: what it may receive and send is its host's to say. */
bool ethtool_is_virtual_function(const struct ethtool *ethtool, const char *name);
/* speed in Mbit/s, 0 unknown; duplex 0 half, 1 full, 255 unknown. */
void ethtool_speed(struct ethtool *ethtool, const char *name, uint32_t *ret_mbps,
		   uint32_t *ret_duplex);

#endif
