/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TC filters on a device's clsact qdisc, other than through libbpf. */
#ifndef XBOND_DAEMON_NET_FILTERS_H
#define XBOND_DAEMON_NET_FILTERS_H

#include "daemon/net/nl.h"

/* Number of filters at both hooks of clsact, or -errno. */
int filters_count(struct nl *nl, int ifindex);
int filters_delete_clsact(struct nl *nl, int ifindex);

#endif
