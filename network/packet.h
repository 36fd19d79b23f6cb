/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends frames out of a device. */
#ifndef XBOND_NETWORK_PACKET_H
#define XBOND_NETWORK_PACKET_H

#include <stddef.h>

/* Opens a packet socket that receives nothing; -1 on failure. */
int packet_open(void);
/* The same, with control priority, so that a full queue of data does not delay a frame. */
int packet_open_control(void);
/* Sends whole frames. Frames that cannot be sent at once are lost. */
void packet_send(int fd, int ifindex, const void *frame, size_t size);

#endif
