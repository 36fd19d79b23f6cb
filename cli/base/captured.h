/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that others have captured, and their flows. Knows no bond. */
#ifndef XBOND_CLI_BASE_CAPTURED_H
#define XBOND_CLI_BASE_CAPTURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "common/err.h"

/*
 * The headers of a captured packet in the form that the programs see: an Ethernet header, and the
 * outermost VLAN tag beside the packet. Made from what a capture file or a packet socket has. All
 * bytes come from outside.
 */

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
/* Has it come in, to a bond with this MAC address? mac: NULL if only the capture can say. */
bool captured_is_received(const struct captured *captured, const uint8_t *mac);

/*
 * The flow that a captured packet belongs to: addresses, protocol and ports of the outermost IP
 * packet, or the MAC addresses and the packet type where there is none.
 */

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

/*
 * Counts packets and bytes by flow and slot, in memory that does not grow beyond a limit. When it
 * is full, packets of further flows are only counted together.
 */

struct flow_count {
	struct tuple tuple;
	uint32_t slot;
	double packets, bytes; /* estimates, if the packets are samples; packets 0: unused */
	uint64_t samples;
};

struct flow_counts {
	struct flow_count *flows; /* a hash table: the unused ones lie between the others */
	size_t capacity, used;
	uint64_t unnoted; /* packets of flows for which there was no room */
	uint64_t seed;
};

/* At most `most` flows. */
void flow_counts_init(struct flow_counts *counts, size_t most);
void flow_counts_done(struct flow_counts *counts);
/* A packet that stands for `weight` packets like it. */
void flow_counts_add(struct flow_counts *counts, const struct tuple *tuple, uint32_t slot,
		     uint32_t length, double weight);

/* The packets of a capture file (pcap or pcapng, by libpcap), one after another. Knows no bond. */

struct pcap;

struct pcap_source {
	const char *file;
	struct pcap *pcap;
	enum captured_link link;
};

/* "-" is standard input. */
int pcap_source_open(struct pcap_source *source, const char *file, struct err *err);
void pcap_source_close(struct pcap_source *source);

/*
 * Returns 1 for a packet, 0 at the end of the file, or -EBADMSG if the file is damaged here.
 * ret_understood: false if the packet is not one of an Ethernet device.
 */
int pcap_source_next(struct pcap_source *source, struct captured *ret_captured,
		     bool *ret_understood, struct timespec *ret_time, struct err *err);

#endif
