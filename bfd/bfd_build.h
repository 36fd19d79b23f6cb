/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the frame that carries a packet, with its checksums. Pure. */
#ifndef XBOND_BFD_BUILD_H
#define XBOND_BFD_BUILD_H

#include <stddef.h>

#include "bfd/bfd_frame.h"
#include "bfd/bfd_packet.h"

/* To the group of micro-BFD, always: RFC 7130, 2.3 demands that everybody receives that. */
size_t bfd_build_frame(const struct bfd_ends *ends, const uint8_t mac[6], uint16_t source_port,
		       const struct bfd_packet *packet, uint8_t ret_frame[BFD_FRAME_SIZE]);

#endif
