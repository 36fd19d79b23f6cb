/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of pcapng, in memory. Knows no bond. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "cli/packets/packets.h"
#include "common/memory.h"

#define MACS 12
#define TAG 4
#define LINK_ETHERNET 1

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};

enum {
	OPTION_END = 0,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_TIME_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	PACKET_FLAGS = 2,
	STATISTICS_START = 2,
	STATISTICS_END = 3,
	STATISTICS_RECEIVED = 4,
	STATISTICS_OS_DROPS = 7,
};

static void pcapng_put(struct pcapng *pcapng, const void *bytes, size_t size)
{
	size_t capacity = pcapng->capacity ? pcapng->capacity : 65536;

	while (capacity < pcapng->size + size)
		capacity *= 2;
	if (capacity > pcapng->capacity) {
		pcapng->bytes = memory_need(realloc(pcapng->bytes, capacity));
		pcapng->capacity = capacity;
	}
	if (size)
		memcpy(pcapng->bytes + pcapng->size, bytes, size);
	pcapng->size += size;
}

static void pcapng_put16(struct pcapng *pcapng, uint16_t number)
{
	pcapng_put(pcapng, &number, sizeof(number));
}

static void pcapng_put32(struct pcapng *pcapng, uint32_t number)
{
	pcapng_put(pcapng, &number, sizeof(number));
}

/* To a multiple of 4 bytes. */
static void pcapng_pad(struct pcapng *pcapng, size_t size)
{
	static const uint8_t zeros[4];

	pcapng_put(pcapng, zeros, -size & 3);
}

/* Returns where the block begins; its length is filled in by pcapng_end(). */
static size_t pcapng_begin(struct pcapng *pcapng, uint32_t type)
{
	size_t begin = pcapng->size;

	pcapng_put32(pcapng, type);
	pcapng_put32(pcapng, 0);
	return begin;
}

static void pcapng_end(struct pcapng *pcapng, size_t begin)
{
	uint32_t size = (uint32_t)(pcapng->size - begin + sizeof(size));

	pcapng_put32(pcapng, size);
	memcpy(pcapng->bytes + begin + sizeof(uint32_t), &size, sizeof(size));
}

static void pcapng_put_option(struct pcapng *pcapng, uint16_t code, const void *bytes, size_t size)
{
	pcapng_put16(pcapng, code);
	pcapng_put16(pcapng, (uint16_t)size);
	pcapng_put(pcapng, bytes, size);
	pcapng_pad(pcapng, size);
}

static void pcapng_put_text(struct pcapng *pcapng, uint16_t code, const char *text)
{
	pcapng_put_option(pcapng, code, text, strnlen(text, 1024));
}

static void pcapng_end_options(struct pcapng *pcapng)
{
	pcapng_put_option(pcapng, OPTION_END, NULL, 0);
}

void pcapng_put_section(struct pcapng *pcapng, const char *application)
{
	const int64_t unknown = -1;
	size_t begin = pcapng_begin(pcapng, BLOCK_SECTION);

	pcapng_put32(pcapng, 0x1a2b3c4d);
	pcapng_put16(pcapng, 1);
	pcapng_put16(pcapng, 0);
	pcapng_put(pcapng, &unknown, sizeof(unknown));
	pcapng_put_text(pcapng, SECTION_APPLICATION, application);
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

/* The first byte of the option says that text follows. */
static void pcapng_put_filter(struct pcapng *pcapng, const char *filter)
{
	char text[1025] = "";
	size_t size = strnlen(filter, sizeof(text) - 1);

	memcpy(text + 1, filter, size);
	pcapng_put_option(pcapng, INTERFACE_FILTER, text, size + 1);
}

void pcapng_put_interface(struct pcapng *pcapng, const struct pcapng_interface *interface)
{
	const uint8_t nanoseconds = 9;
	size_t begin = pcapng_begin(pcapng, BLOCK_INTERFACE);

	pcapng_put16(pcapng, LINK_ETHERNET);
	pcapng_put16(pcapng, 0);
	pcapng_put32(pcapng, interface->snaplen);
	pcapng_put_text(pcapng, INTERFACE_NAME, interface->name);
	pcapng_put_text(pcapng, INTERFACE_DESCRIPTION, interface->description);
	pcapng_put_option(pcapng, INTERFACE_TIME_RESOLUTION, &nanoseconds, sizeof(nanoseconds));
	if (interface->filter)
		pcapng_put_filter(pcapng, interface->filter);
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

static void pcapng_put_time(struct pcapng *pcapng, uint64_t time_ns)
{
	pcapng_put32(pcapng, (uint32_t)(time_ns >> 32));
	pcapng_put32(pcapng, (uint32_t)time_ns);
}

/* At most `kept` bytes of the packet with its tag. */
static void pcapng_put_frame(struct pcapng *pcapng, const struct pcapng_packet *packet,
			     uint32_t kept)
{
	uint16_t tag[2] = { htons(packet->vlan_type), htons((uint16_t)packet->vlan_tci) };
	size_t macs = kept < MACS ? kept : MACS, rest = kept - macs, tagged;

	pcapng_put(pcapng, packet->bytes, macs);
	if (packet->vlan_tci >= 0) {
		tagged = rest < TAG ? rest : TAG;
		pcapng_put(pcapng, tag, tagged);
		rest -= tagged;
	}
	pcapng_put(pcapng, packet->bytes + macs, rest);
	pcapng_pad(pcapng, kept);
}

void pcapng_put_packet(struct pcapng *pcapng, const struct pcapng_packet *packet)
{
	uint32_t tag = packet->vlan_tci >= 0 && packet->kept >= MACS ? TAG : 0;
	uint32_t kept = packet->kept + tag;
	struct pcapng_packet taken = *packet;
	size_t begin = pcapng_begin(pcapng, BLOCK_PACKET);

	if (!tag)
		taken.vlan_tci = -1;
	if (kept > packet->snaplen)
		kept = packet->snaplen;
	pcapng_put32(pcapng, packet->interface);
	pcapng_put_time(pcapng, packet->time_ns);
	pcapng_put32(pcapng, kept);
	pcapng_put32(pcapng, packet->length + tag);
	pcapng_put_frame(pcapng, &taken, kept);
	pcapng_put_option(pcapng, PACKET_FLAGS, &packet->flags, sizeof(packet->flags));
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

static void pcapng_put_time_option(struct pcapng *pcapng, uint16_t code, uint64_t time_ns)
{
	uint32_t words[2] = { (uint32_t)(time_ns >> 32), (uint32_t)time_ns };

	pcapng_put_option(pcapng, code, words, sizeof(words));
}

void pcapng_put_statistics(struct pcapng *pcapng, const struct pcapng_statistics *statistics)
{
	size_t begin = pcapng_begin(pcapng, BLOCK_STATISTICS);

	pcapng_put32(pcapng, statistics->interface);
	pcapng_put_time(pcapng, statistics->end_ns);
	pcapng_put_time_option(pcapng, STATISTICS_START, statistics->start_ns);
	pcapng_put_time_option(pcapng, STATISTICS_END, statistics->end_ns);
	pcapng_put_option(pcapng, STATISTICS_RECEIVED, &statistics->received,
			  sizeof(statistics->received));
	pcapng_put_option(pcapng, STATISTICS_OS_DROPS, &statistics->dropped,
			  sizeof(statistics->dropped));
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

void pcapng_clear(struct pcapng *pcapng)
{
	pcapng->size = 0;
}

void pcapng_done(struct pcapng *pcapng)
{
	free(pcapng->bytes);
	*pcapng = (struct pcapng){ 0 };
}
