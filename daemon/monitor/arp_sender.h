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

#include "bpf/abi.h"
#include "common/err.h"

/*
 * The frames by which the ARP monitor probes a host, and balance-alb tells one where to send: ARP
 * (RFC 826) and neighbour solicitations (RFC 4861); and RARP for switches. Pure: makes bytes.
 */

#define ARP_MAX_TAGS 2 /* as deep as the receive programs look */
#define ARP_FRAME_SIZE 96

struct arp_tag {
	uint16_t protocol, id;
};

struct arp_probe {
	const uint8_t *source; /* of 4 or 16 bytes; zero: the sender has no address */
	const uint8_t *target;
	const uint8_t *mac; /* of the sender */
	const uint8_t *to;  /* NULL: a request to everybody, a solicitation to the target's group */
	const struct arp_tag *tags;
	unsigned int tag_count;
};

/* Returns the size of the frame. */
size_t arp_frame_request(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
/* A reply that answers nothing: tells `to` that the source has this MAC. */
size_t arp_frame_reply(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
size_t arp_frame_solicitation(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
/* To everybody (RFC 903): switches learn where this MAC is, and hosts ignore it. tag: or NULL. */
size_t arp_frame_rarp(const uint8_t *mac, const struct arp_tag *tag,
		      uint8_t ret_frame[ARP_FRAME_SIZE]);

struct arp_sender;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct arp_sender *arp_sender_new(struct err *err);
void arp_sender_free(struct arp_sender *sender);

/* Takes a frame of at most ARP_FRAME_SIZE bytes. If too many wait already, it is lost. */
void arp_sender_add(struct arp_sender *sender, int ifindex, const uint8_t *frame, size_t size);
/* Sends what was added. */
void arp_sender_flush(struct arp_sender *sender);

#endif
