/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's team device, without a mode and without teamd: ports hand what they receive to it in
 * place, and it sends nothing. (It would send by a port whose queue_id a packet asks for. But when
 * the port's device does not take the packet, the kernel then frees it twice.)
 */
#ifndef XBOND_NETWORK_TEAM_H
#define XBOND_NETWORK_TEAM_H

#include "network/link.h"

#define TEAM_KIND "team"

/*
 * Makes one, without carrier: from now on only link_set_carrier() changes that. -EOPNOTSUPP: the
 * kernel has no team.
 */
int team_create(struct nl *nl, const struct link_end *device, struct err *err);

#endif
