/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bfd/bfd_packet.h"

#include "bfd/bfd_state.h"

static uint32_t bfd_packet_get(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void bfd_packet_put(uint8_t *at, uint32_t number)
{
	at[0] = (uint8_t)(number >> 24);
	at[1] = (uint8_t)(number >> 16);
	at[2] = (uint8_t)(number >> 8);
	at[3] = (uint8_t)number;
}

/* The order is that of 6.8.6. */
static enum bfd_refusal bfd_packet_check(const uint8_t *bytes, size_t length)
{
	uint8_t flags, state;

	if (length < BFD_PACKET_SIZE)
		return BFD_TOO_SHORT;
	flags = bytes[BFD_AT_STATE] & 0x3f;
	state = bytes[BFD_AT_STATE] >> 6;
	if (bytes[BFD_AT_VERSION] >> 5 != BFD_VERSION)
		return BFD_BAD_VERSION;
	if (bytes[BFD_AT_LENGTH] <
	    (flags & BFD_FLAG_AUTHENTICATED ? BFD_PACKET_SIZE_AUTH : BFD_PACKET_SIZE))
		return BFD_TOO_SHORT;
	if (bytes[BFD_AT_LENGTH] > length)
		return BFD_TOO_LONG;
	if (!bytes[BFD_AT_MULTIPLIER])
		return BFD_BAD_MULTIPLIER;
	if (flags & BFD_FLAG_MULTIPOINT)
		return BFD_MULTIPOINT;
	if (!bfd_packet_get(bytes + BFD_AT_MY_DISCR))
		return BFD_NO_DISCRIMINATOR;
	if (!bfd_packet_get(bytes + BFD_AT_YOUR_DISCR) && state != BFD_DOWN &&
	    state != BFD_ADMIN_DOWN)
		return BFD_NOT_YOURS;
	return flags & BFD_FLAG_AUTHENTICATED ? BFD_AUTHENTICATED : BFD_TAKEN;
}

enum bfd_refusal bfd_packet_decode(const uint8_t *bytes, size_t length,
				   struct bfd_packet *ret_packet)
{
	enum bfd_refusal refusal = bfd_packet_check(bytes, length);

	if (refusal)
		return refusal;
	*ret_packet = (struct bfd_packet){
		.diag = bytes[BFD_AT_VERSION] & 0x1f,
		.state = bytes[BFD_AT_STATE] >> 6,
		.poll = bytes[BFD_AT_STATE] & BFD_FLAG_POLL,
		.final = bytes[BFD_AT_STATE] & BFD_FLAG_FINAL,
		.control_plane_independent = bytes[BFD_AT_STATE] & BFD_FLAG_INDEPENDENT,
		.demand = bytes[BFD_AT_STATE] & BFD_FLAG_DEMAND,
		.multiplier = bytes[BFD_AT_MULTIPLIER],
		.my_discr = bfd_packet_get(bytes + BFD_AT_MY_DISCR),
		.your_discr = bfd_packet_get(bytes + BFD_AT_YOUR_DISCR),
		.min_tx_us = bfd_packet_get(bytes + BFD_AT_MIN_TX),
		.min_rx_us = bfd_packet_get(bytes + BFD_AT_MIN_RX),
		.min_echo_us = bfd_packet_get(bytes + BFD_AT_MIN_ECHO),
	};
	return BFD_TAKEN;
}

static uint8_t bfd_packet_flags(const struct bfd_packet *packet)
{
	return (uint8_t)((packet->poll ? BFD_FLAG_POLL : 0) | (packet->final ? BFD_FLAG_FINAL : 0) |
			 (packet->control_plane_independent ? BFD_FLAG_INDEPENDENT : 0) |
			 (packet->demand ? BFD_FLAG_DEMAND : 0));
}

void bfd_packet_encode(const struct bfd_packet *packet, uint8_t ret_bytes[BFD_PACKET_SIZE])
{
	ret_bytes[BFD_AT_VERSION] = (uint8_t)(BFD_VERSION << 5 | (packet->diag & 0x1f));
	ret_bytes[BFD_AT_STATE] = (uint8_t)(packet->state << 6 | bfd_packet_flags(packet));
	ret_bytes[BFD_AT_MULTIPLIER] = packet->multiplier;
	ret_bytes[BFD_AT_LENGTH] = BFD_PACKET_SIZE;
	bfd_packet_put(ret_bytes + BFD_AT_MY_DISCR, packet->my_discr);
	bfd_packet_put(ret_bytes + BFD_AT_YOUR_DISCR, packet->your_discr);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_TX, packet->min_tx_us);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_RX, packet->min_rx_us);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_ECHO, packet->min_echo_us);
}

const char *bfd_state_name(unsigned int state)
{
	static const char *const names[] = {
		[BFD_ADMIN_DOWN] = "admin_down",
		[BFD_DOWN] = "down",
		[BFD_INIT] = "init",
		[BFD_UP] = "up",
	};

	return state <= BFD_UP ? names[state] : "unknown";
}

const char *bfd_diag_name(unsigned int diag)
{
	static const char *const names[] = {
		[BFD_DIAG_NONE] = "none",
		[BFD_DIAG_TIME_EXPIRED] = "control detection time expired",
		[BFD_DIAG_ECHO_FAILED] = "echo function failed",
		[BFD_DIAG_NEIGHBOR_DOWN] = "neighbor signaled session down",
		[BFD_DIAG_PLANE_RESET] = "forwarding plane reset",
		[BFD_DIAG_PATH_DOWN] = "path down",
		[BFD_DIAG_CONCATENATED_DOWN] = "concatenated path down",
		[BFD_DIAG_ADMIN_DOWN] = "administratively down",
		[BFD_DIAG_REVERSE_DOWN] = "reverse concatenated path down",
	};

	return diag < sizeof(names) / sizeof(names[0]) ? names[diag] : "unknown";
}
