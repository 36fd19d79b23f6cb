/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells a packet of micro-BFD from others at little cost, for TC and XDP. */
#ifndef XBOND_BPF_MICRO_BFD_PORT_H
#define XBOND_BPF_MICRO_BFD_PORT_H

#include <linux/in.h>
#include <bpf/bpf_endian.h>

#include "bfd/bfd_wire.h"

/* Offsets of the protocol and the destination port in a frame without options. */
#define MICRO_BFD_PROTOCOL4 (BFD_ETHER_SIZE + 9)
#define MICRO_BFD_PORT4 (BFD_ETHER_SIZE + BFD_IPV4_SIZE + 2)
#define MICRO_BFD_PROTOCOL6 (BFD_ETHER_SIZE + 6)
#define MICRO_BFD_PORT6 (BFD_ETHER_SIZE + BFD_IPV6_SIZE + 2)

/* The caller has compared the frame's end. */
static __always_inline int micro_bfd_is_port(const __u8 *frame, __u32 protocol, __u32 port)
{
	return frame[protocol] == IPPROTO_UDP &&
	       *(const __be16 *)(frame + port) == bpf_htons(BFD_MICRO_PORT);
}

#endif
