/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of a pcapng file, in memory. Whoever writes them out writes whole blocks. Written by
 * draft-ietf-opsawg-pcapng. Knows no bonds and no files.
 */
#ifndef XBOND_CLI_PACKETS_PCAPNG_H
#define XBOND_CLI_PACKETS_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

struct pcapng {
	uint8_t *bytes;
	size_t size, capacity;
};

/* Of epb_flags. */
#define PCAPNG_INBOUND 1
#define PCAPNG_OUTBOUND 2
#define PCAPNG_UNICAST (1 << 2)
#define PCAPNG_MULTICAST (2 << 2)
#define PCAPNG_BROADCAST (3 << 2)
#define PCAPNG_PROMISCUOUS (4 << 2)

struct pcapng_interface {
	const char *name, *description;
	const char *filter; /* NULL: none */
	uint32_t snaplen;
};

struct pcapng_packet {
	uint32_t interface; /* counted from 0 in the order of pcapng_put_interface() */
	uint64_t time_ns;   /* Unix time */
	const uint8_t *bytes;
	uint32_t kept, length;
	int32_t vlan_tci; /* a tag to be put back behind the MAC addresses, or -1 */
	uint16_t vlan_type;
	uint32_t snaplen; /* applies with the tag */
	uint32_t flags;
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t start_ns, end_ns, received, dropped;
};

/* The first block. */
void pcapng_put_section(struct pcapng *pcapng, const char *application);
void pcapng_put_interface(struct pcapng *pcapng, const struct pcapng_interface *interface);
void pcapng_put_packet(struct pcapng *pcapng, const struct pcapng_packet *packet);
void pcapng_put_statistics(struct pcapng *pcapng, const struct pcapng_statistics *statistics);
/* Begins again with an empty buffer. */
void pcapng_clear(struct pcapng *pcapng);
void pcapng_done(struct pcapng *pcapng);

#endif
