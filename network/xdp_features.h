/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver can do with XDP. The kernel tells it from Linux 6.3 on, without attaching anything.
 */
#ifndef XBOND_NETWORK_XDP_FEATURES_H
#define XBOND_NETWORK_XDP_FEATURES_H

#include <stdint.h>

/* The kernel's enum netdev_xdp_act. */
#define XDP_FEATURE_BASIC 1
#define XDP_FEATURE_REDIRECT 2
#define XDP_FEATURE_NDO_XMIT 4 /* it takes redirected frames */

/* Returns 0 and a mask of the above and others, or -errno if this kernel does not tell. */
int xdp_features_get(int ifindex, uint64_t *ret_features);

#endif
