/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers of a captured packet in the form that the programs see: an Ethernet header, and the
 * outermost VLAN tag beside the packet. Made from what a capture file or a packet socket has. All
 * bytes come from outside.
 */
#ifndef XBOND_CLI_BASE_CAPTURED_H
#define XBOND_CLI_BASE_CAPTURED_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURED_HEAD 512 /* more than FLOW_HEADERS */

enum captured_link {
	CAPTURED_ETHERNET,
	CAPTURED_COOKED,  /* LINUX_SLL: no destination address */
	CAPTURED_COOKED2, /* LINUX_SLL2, likewise */
};

struct captured {
	uint8_t head[CAPTURED_HEAD];
	uint32_t size;	  /* of head */
	bool cut;	  /* the packet went on, but the capture has no more of it */
	bool no_dest;	  /* the capture has no destination address; in head it is zero */
	bool received;	  /* the capture says that it came in */
	int32_t vlan_tci; /* the outermost tag, or -1 */
	uint32_t length;  /* of the whole packet with its Ethernet header and tags */
};

/*
 * kept: how many bytes there are; length: how many the packet had. vlan_tci: a tag that the kernel
 * has taken off, or -1. Returns false if that is no Ethernet packet, or not even its header.
 */
bool captured_take(enum captured_link link, const uint8_t *bytes, uint32_t kept, uint32_t length,
		   int32_t vlan_tci, struct captured *ret_captured);

#endif
