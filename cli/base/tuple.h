/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow that a captured packet belongs to: addresses, protocol and ports of the outermost IP
 * packet, or the MAC addresses and the packet type where there is none.
 */
#ifndef XBOND_CLI_BASE_TUPLE_H
#define XBOND_CLI_BASE_TUPLE_H

#include <jansson.h>

#include "cli/base/captured.h"

/* All bytes count in comparisons. */
struct tuple {
	uint8_t src[16], dst[16]; /* IPv4: 4 bytes; ip 0: MAC addresses */
	uint16_t type;		  /* of the packet, behind the tags */
	uint16_t vlan;		  /* the outermost id, 0 for none */
	uint16_t sport, dport;	  /* 0 without has_ports */
	uint8_t ip;		  /* 4, 6, or 0 */
	uint8_t proto;
	uint8_t has_ports;
	uint8_t pad;
};
_Static_assert(sizeof(struct tuple) == 44, "no holes");

#define TUPLE_TEXT 160

void tuple_of(const struct captured *captured, struct tuple *ret_tuple);
/* "10.0.0.1.40000 > 10.0.0.2.443 tcp vlan 5". Returns ret_text. */
const char *tuple_format(const struct tuple *tuple, char ret_text[TUPLE_TEXT]);
/* src, dst, proto (a name or a number as text), sport, dport, vlan; null where there is none. */
json_t *tuple_json(const struct tuple *tuple);

#endif
