/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet captures: packet sockets for every protocol, from /proc/net/packet. */
#ifndef XBOND_NETWORK_CAPTURE_H
#define XBOND_NETWORK_CAPTURE_H

#include <stddef.h>

/* The interface indexes with an ETH_P_ALL packet socket, at most max. Returns the number stored. */
size_t capture_list(int *ret_ifindexes, size_t max);

#endif
