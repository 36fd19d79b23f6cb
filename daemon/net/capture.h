/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who captures: packet sockets for every protocol, as /proc/net/packet lists them. */
#ifndef XBOND_DAEMON_NET_CAPTURE_H
#define XBOND_DAEMON_NET_CAPTURE_H

#include <stddef.h>

/* Interface indexes with an ETH_P_ALL packet socket; at most max. Returns the number stored. */
size_t capture_list(int *ret_ifindexes, size_t max);

#endif
