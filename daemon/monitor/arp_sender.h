/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that sends probes out of devices. Many targets and slaves make many probes, and each
 * may take as long as the driver, the switch and the answer of a virtual link: the main loop does
 * not wait for that. Knows no bonds.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_SENDER_H
#define XBOND_DAEMON_MONITOR_ARP_SENDER_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct arp_sender;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct arp_sender *arp_sender_new(struct err *err);
void arp_sender_free(struct arp_sender *sender);

/* Takes a frame of at most ARP_FRAME_SIZE bytes. If too many wait already, it is lost. */
void arp_sender_add(struct arp_sender *sender, int ifindex, const uint8_t *frame, size_t size);
/* Sends what was added. */
void arp_sender_flush(struct arp_sender *sender);

#endif
