/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "cli/packets/packets.h"
#include "tests/unit/unit.h"

#define SNAPLEN 64

static uint32_t word_at(const struct pcapng *pcapng, size_t at)
{
	uint32_t word;

	assert_true(at + sizeof(word) <= pcapng->size);
	memcpy(&word, pcapng->bytes + at, sizeof(word));
	return word;
}

/* Walks over whole blocks with equal lengths at both ends. Returns how many there are. */
static unsigned int count_blocks(const struct pcapng *pcapng, const uint32_t *types)
{
	unsigned int count = 0;
	uint32_t size;

	for (size_t at = 0; at < pcapng->size; at += size) {
		size = word_at(pcapng, at + 4);
		assert_int_equal(size % 4, 0);
		assert_int_equal(word_at(pcapng, at), types[count++]);
		assert_int_equal(word_at(pcapng, at + size - 4), size);
	}
	return count;
}

TEST(test_blocks)
{
	const uint32_t types[] = { 0x0a0d0d0a, 1, 6, 5 };
	const struct pcapng_interface interface = { "eth1 in", "x", "port 5", SNAPLEN };
	const struct pcapng_packet packet = { .bytes = (const uint8_t *)"12345678901234x",
					      .kept = 15,
					      .length = 15,
					      .vlan_tci = -1,
					      .snaplen = SNAPLEN };
	struct pcapng pcapng = { 0 };

	pcapng_put_section(&pcapng, "test");
	pcapng_put_interface(&pcapng, &interface);
	pcapng_put_packet(&pcapng, &packet);
	pcapng_put_statistics(&pcapng, &(struct pcapng_statistics){ .received = 1 });
	assert_int_equal(count_blocks(&pcapng, types), 4);
	pcapng_done(&pcapng);
}

/* The frame of a packet block that stands alone, and how many bytes of it there are. */
static const uint8_t *frame_of(struct pcapng *pcapng, const struct pcapng_packet *packet,
			       uint32_t *ret_kept, uint32_t *ret_length)
{
	pcapng_clear(pcapng);
	pcapng_put_packet(pcapng, packet);
	*ret_kept = word_at(pcapng, 20);
	*ret_length = word_at(pcapng, 24);
	return pcapng->bytes + 28;
}

TEST(test_tag_is_put_back)
{
	uint8_t bytes[SNAPLEN];
	struct pcapng_packet packet = { .bytes = bytes,
					.kept = 20,
					.length = 100,
					.vlan_tci = 5,
					.vlan_type = 0x88a8,
					.snaplen = SNAPLEN };
	struct pcapng pcapng = { 0 };
	uint32_t kept, length;
	const uint8_t *frame;

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	frame = frame_of(&pcapng, &packet, &kept, &length);
	assert_int_equal(kept, 24);
	assert_int_equal(length, 104);
	assert_memory_equal(frame, bytes, 12);
	assert_memory_equal(frame + 12, "\x88\xa8\x00\x05", 4);
	assert_memory_equal(frame + 16, bytes + 12, 8);

	packet.kept = SNAPLEN; /* the snap length holds with the tag */
	frame = frame_of(&pcapng, &packet, &kept, &length);
	assert_int_equal(kept, SNAPLEN);
	assert_memory_equal(frame + 16, bytes + 12, SNAPLEN - 16);

	packet.kept = packet.snaplen = 13;
	frame = frame_of(&pcapng, &packet, &kept, &length);
	assert_int_equal(kept, 13);
	assert_int_equal(frame[12], 0x88);

	packet.kept = 5; /* no place for a tag */
	frame_of(&pcapng, &packet, &kept, &length);
	assert_int_equal(kept, 5);
	assert_int_equal(length, 100);
	pcapng_done(&pcapng);
}

static void put_at(struct order *order, uint64_t time_ns, uint64_t due_ns)
{
	const struct tap_packet packet = { .time_ns = time_ns,
					   .bytes = (const uint8_t *)"x",
					   .kept = 1 };

	order_put(order, &packet, NULL, due_ns);
}

static void assert_next(struct order *order, uint64_t now_ns, uint64_t time_ns)
{
	struct order_packet *first = order_take(order, now_ns);

	assert_non_null(first);
	assert_int_equal(first->packet.time_ns, time_ns);
	assert_int_equal(first->packet.bytes[0], 'x');
	free(first);
}

TEST(test_order_is_that_of_time)
{
	struct order order = { 0 };

	for (uint64_t i = 0; i < 5000; i++)
		put_at(&order, i * 7919 % 5000, 10);
	assert_null(order_take(&order, 9));
	for (uint64_t i = 0; i < 5000; i++)
		assert_next(&order, 10, i);
	assert_null(order_take(&order, 10));
	assert_int_equal(order.size, 0);
	order_done(&order);
}

TEST(test_a_packet_waits_for_earlier_ones)
{
	struct order order = { 0 };

	put_at(&order, 200, 10);
	put_at(&order, 100, 15);
	assert_null(order_take(&order, 12));
	assert_next(&order, 15, 100);
	assert_next(&order, 15, 200);
	put_at(&order, 1, 99);
	order_done(&order);
}

/* A fast sender does not make it grow. */
TEST(test_order_is_bounded)
{
	static uint8_t bytes[65536];
	const struct tap_packet packet = { .bytes = bytes, .kept = sizeof(bytes) };
	struct order order = { 0 };
	struct order_packet *first;

	for (int i = 0; i < 2 * ORDER_MOST / (int)sizeof(bytes); i++) {
		order_put(&order, &packet, NULL, 100);
		while ((first = order_take(&order, 0)))
			free(first);
	}
	assert_true(order.size <= ORDER_MOST);
	assert_true(order.count > 0);
	order_done(&order);
}
