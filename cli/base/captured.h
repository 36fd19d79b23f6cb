/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that were captured, and their flows; and how they are captured. Knows no bond. */
#ifndef XBOND_CLI_BASE_CAPTURED_H
#define XBOND_CLI_BASE_CAPTURED_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/err.h"

struct view_table;

/*
 * The headers of a captured packet in the form that the programs see: an Ethernet header, and the
 * outermost VLAN tag beside the packet. Made from what a capture file or a packet socket has. All
 * bytes come from outside.
 */

#define CAPTURED_HEAD 512 /* more than FLOW_HEADERS */
#define CAPTURED_TAG 4	  /* bytes of a VLAN tag */

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

/* Why no slave can be told of a packet, in the words of explain and simulate. */
#define CAPTURED_WHY_RECEIVED "received, not sent"
#define CAPTURED_WHY_NO_DEST \
	"a cooked capture lacks the destination MAC address, which decides here"
#define CAPTURED_WHY_NO_ETHERNET "not a packet of an Ethernet device"

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
/* Its JSON. */
extern const struct view_table tuple_table;

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

/*
 * tap.c: a packet socket on one device for one direction, with a ring that the kernel fills. It
 * ends with the process, whatever ends that. Nothing is changed on the device. Knows no bonds.
 */

enum tap_direction { TAP_IN, TAP_OUT };

#define TAP_RETIRE_MS 50 /* a packet waits in the ring for others no longer than twice this */

struct tap {
	int fd;
	enum tap_direction direction;
	uint8_t *ring;
	size_t ring_size;
	uint32_t block_size, blocks, next; /* next: the block to be read */
	uint64_t seen, dropped;		   /* by the kernel; see tap_read_statistics() */
};

struct tap_options {
	const char *device;
	int ifindex;
	enum tap_direction direction;
	uint32_t one_of;  /* one packet of so many, by chance; 1: all */
	uint32_t snaplen; /* at most TAP_MOST */
	size_t room;	  /* of the ring in bytes, about */
	/* The kernel's filter; its return value is the snap length. No instructions: all packets.
	 */
	struct sock_fprog filter;
};

#define TAP_MOST 262144

struct tap_packet {
	uint64_t time_ns; /* Unix time */
	const uint8_t *bytes;
	uint32_t kept, length; /* without the tag */
	int32_t vlan_tci;      /* the tag that the kernel has taken off, or -1 */
	uint16_t vlan_type;
	uint8_t packet_type; /* PACKET_HOST and others of linux/if_packet.h */
};

/* The device must be in this network namespace. Nothing comes in before tap_start(). */
int tap_open(struct tap *ret_tap, const struct tap_options *options, struct err *err);
/* From now on packets come in. The options are those of tap_open(). Returns 0 or -errno. */
int tap_start(const struct tap *tap, const struct tap_options *options);
void tap_close(struct tap *tap);
/* From now on nothing comes in. What is in the ring can be read after 2 * TAP_RETIRE_MS. */
void tap_stop(const struct tap *tap);
/* Calls `take` with each packet that is there. */
void tap_read(struct tap *tap, void (*take)(void *context, const struct tap_packet *packet),
	      void *context);
/* Brings the counts up to date. dropped: no room in the ring; they are among those seen. */
void tap_read_statistics(struct tap *tap);

#endif
