/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames by which the ARP monitor probes a host, and balance-alb tells one where to send: ARP
 * (RFC 826) and neighbour solicitations (RFC 4861); and RARP for switches. Pure: makes bytes.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_FRAMES_H
#define XBOND_DAEMON_MONITOR_ARP_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

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

#endif
