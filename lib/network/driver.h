/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What only the driver of a device tells, or does otherwise on request: its carrier, speed,
 * offloads and XDP, and what it has counted. Knows nothing of bonds.
 */
#ifndef XBOND_NETWORK_DRIVER_H
#define XBOND_NETWORK_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "network/nl.h"
#include "rules/link_state.h"

/* What only the ethtool ioctl tells. Names are resolved in the namespace of the process. */

struct ethtool {
	int fd;
	signed char mask_words; /* length of this kernel's link mode masks; 0: not known yet */
};

int ethtool_init(struct ethtool *ethtool);
void ethtool_done(struct ethtool *ethtool);

/*
 * Returns 1 for carrier, 0 for none, -errno if unknown. Fresher than a link message, because the
 * driver is asked.
 */
int ethtool_carrier(const struct ethtool *ethtool, const char *name);
/* How many queues it receives by; 0: unknown. */
unsigned int ethtool_rx_queues(const struct ethtool *ethtool, const char *name);
/* Is it an SR-IOV virtual function? Its host decides what it may receive and send. */
bool ethtool_is_virtual_function(const struct ethtool *ethtool, const char *name);
/* speed in Mbit/s, 0 unknown; duplex 0 half, 1 full, 255 unknown. */
void ethtool_speed(struct ethtool *ethtool, const char *name, uint32_t *ret_mbps,
		   uint32_t *ret_duplex);

/* Offload features of a device by name, as in `ethtool -k` and `-K`. */

#define FEATURE_VLAN_FILTER "rx-vlan-filter"
#define FEATURE_VLAN_STAG_FILTER "rx-vlan-stag-filter" /* 802.1ad */
#define FEATURE_VLAN_STRIP "rx-vlan-hw-parse"
#define FEATURE_GRO "rx-gro"
#define FEATURE_LRO "rx-lro"

struct feature {
	bool active;
	bool fixed;  /* cannot be changed */
	bool wanted; /* the user's setting; other things may keep it from being active */
};

/* 0 or -errno; -ENOENT: the kernel has no such feature. */
int feature_get(const struct ethtool *ethtool, const char *dev, const char *name,
		struct feature *ret_feature);
/* False also if that cannot be read. */
static inline bool feature_is_on(const struct ethtool *ethtool, const char *dev, const char *name)
{
	struct feature feature;

	return !feature_get(ethtool, dev, name, &feature) && feature.active;
}
int feature_set(const struct ethtool *ethtool, const char *dev, const char *name, bool active);
/*
 * Settings that differ between two devices, as far as both can change them: `to` gets those of
 * `from`, but for the feature `but`. An error, which names them, also if some that are off on
 * `from` stay on.
 */
int features_copy(const struct ethtool *ethtool, const char *from, const char *to, const char *but,
		  struct err *err);

/*
 * What a driver can do with XDP. The kernel tells it from Linux 6.3 on, without attaching anything.
 */

/* The kernel's enum netdev_xdp_act. */
#define XDP_FEATURE_BASIC 1
#define XDP_FEATURE_REDIRECT 2
#define XDP_FEATURE_NDO_XMIT 4 /* it takes redirected frames */
#define XDP_FEATURE_ZEROCOPY 8 /* of AF_XDP sockets */

/* Returns 0 and a mask of the above and others, or -errno if this kernel does not tell. */
int xdp_features_get(int ifindex, uint64_t *ret_features);

/*
 * What a device and its driver have counted, over rtnetlink. The kernel answers under the RTNL
 * lock, and drivers may take their time: not for the main loop. Knows nothing of bonds.
 */

struct link_stats {
	struct error_counters rx;
	uint32_t carrier_losses; /* also those that were too short for a message */
};

/* 0 or -errno; -ENODATA: the kernel did not tell. */
int link_stats_get(struct nl *nl, int ifindex, struct link_stats *ret_stats);

#endif
