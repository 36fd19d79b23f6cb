/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BFD Control packets (RFC 5880, 4.1), from bytes and to bytes, and the frames that carry them.
 * Pure.
 */
#ifndef XBOND_BFD_BFD_PACKET_H
#define XBOND_BFD_BFD_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bfd/bfd_frame.h"
#include "bfd/bfd_wire.h"

struct bfd_packet {
	uint8_t diag, state;
	bool poll, final, control_plane_independent, demand;
	uint8_t multiplier;
	uint32_t my_discr, your_discr;
	uint32_t min_tx_us, min_rx_us, min_echo_us;
};

/* The checks of 6.8.6 that need no session, in its order. */
enum bfd_refusal {
	BFD_TAKEN = 0,
	BFD_BAD_VERSION,
	BFD_TOO_SHORT, /* its own length, for what it has */
	BFD_TOO_LONG,  /* its own length, for what carries it */
	BFD_BAD_MULTIPLIER,
	BFD_MULTIPOINT,
	BFD_NO_DISCRIMINATOR,
	BFD_NOT_YOURS,	   /* no discriminator of the receiver, though it knows one */
	BFD_AUTHENTICATED, /* nobody has given us a key */
};

/* `length` is what the datagram carries. ret_packet is filled if the result is BFD_TAKEN. */
enum bfd_refusal bfd_packet_decode(const uint8_t *bytes, size_t length,
				   struct bfd_packet *ret_packet);
void bfd_packet_encode(const struct bfd_packet *packet, uint8_t ret_bytes[BFD_PACKET_SIZE]);

const char *bfd_state_name(unsigned int state);
const char *bfd_diag_name(unsigned int diag);

/* Makes the frame that carries a packet, with its checksums. Pure. */

/* To the group of micro-BFD, always: RFC 7130, 2.3 demands that everybody receives that. */
size_t bfd_build_frame(const struct bfd_ends *ends, const uint8_t mac[6], uint16_t source_port,
		       const struct bfd_packet *packet, uint8_t ret_frame[BFD_FRAME_SIZE]);

#endif
