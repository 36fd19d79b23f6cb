/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's team device, without a mode and without teamd: ports hand what they receive to it in
 * place, and it sends a packet only by the port whose queue_id the packet asks for.
 */
#ifndef XBOND_NETWORK_TEAM_H
#define XBOND_NETWORK_TEAM_H

#include <stdint.h>

#include "network/link.h"

#define TEAM_KIND "team"

/*
 * Makes one, without carrier: from now on only link_set_carrier() changes that. -EOPNOTSUPP: the
 * kernel has no team.
 */
int team_create(struct nl *nl, const struct link_end *device, struct err *err);
/* queue_id: less than the number of the device's transmit queues; 0: none. */
int team_set_queue_id(int ifindex, int port_ifindex, uint32_t queue_id, struct err *err);

#endif
