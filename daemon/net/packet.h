/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames out of a device. */
#ifndef XBOND_DAEMON_NET_PACKET_H
#define XBOND_DAEMON_NET_PACKET_H

#include <stddef.h>

/* A packet socket that receives nothing; -1: none is to be had. */
int packet_open(void);
/* Whole frames. Those that cannot be sent at once are lost. */
void packet_send(int fd, int ifindex, const void *frame, size_t size);

#endif
