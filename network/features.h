/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offload features of a device by name, as in `ethtool -k` and `-K`. */
#ifndef XBOND_NETWORK_FEATURES_H
#define XBOND_NETWORK_FEATURES_H

#include <stdbool.h>

#include "network/ethtool.h"

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
int feature_set(const struct ethtool *ethtool, const char *dev, const char *name, bool active);

#endif
