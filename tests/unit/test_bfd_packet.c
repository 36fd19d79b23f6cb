/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BFD Control packets (RFC 5880, 4.1 and the first checks of 6.8.6), and the frames that carry
 * them (RFC 5881, RFC 7130).
 */
#include <string.h>

#include "bfd/bfd.h"
#include "bfd/bfd_wire.h"
#include "tests/unit/unit.h"

static uint8_t bytes[64], frame[BFD_FRAME_SIZE];
static struct bfd_packet decoded;
static struct bfd_ends us, them;
static const uint8_t mac[] = { 2, 2, 2, 2, 2, 2 };
static const struct bfd_packet up = {
	.diag = BFD_DIAG_PATH_DOWN,
	.state = BFD_UP,
	.poll = true,
	.control_plane_independent = true,
	.multiplier = 3,
	.my_discr = 0x01020304,
	.your_discr = 0x05060708,
	.min_tx_us = 10000,
	.min_rx_us = 20000,
	.min_echo_us = 30000,
};

static int setup(void **state)
{
	memset(bytes, 0, sizeof(bytes));
	bfd_packet_encode(&up, bytes);
	us = (struct bfd_ends){ .local = { 10, 0, 0, 1 }, .remote = { 10, 0, 0, 2 } };
	them = (struct bfd_ends){ .local = { 10, 0, 0, 2 }, .remote = { 10, 0, 0, 1 } };
	bfd_build_frame(&them, mac, 50000, &up, frame);
	return 0;
}

static int setup6(void **state)
{
	setup(state);
	us = (struct bfd_ends){ .six = 1,
				.local = { 0xfd, [15] = 1 },
				.remote = { 0xfd, [15] = 2 } };
	them = (struct bfd_ends){ .six = 1,
				  .local = { 0xfd, [15] = 2 },
				  .remote = { 0xfd, [15] = 1 } };
	bfd_build_frame(&them, mac, 50000, &up, frame);
	return 0;
}

static enum bfd_refusal decode(size_t length)
{
	return bfd_packet_decode(bytes, length, &decoded);
}

TEST(clause_4_1_layout, setup)
{
	static const uint8_t expected[] = { 0x25, 0xe8, 3,    24,   1, 2, 3,	4,
					    5,	  6,	7,    8,    0, 0, 0x27, 0x10,
					    0,	  0,	0x4e, 0x20, 0, 0, 0x75, 0x30 };

	assert_memory_equal(bytes, expected, sizeof(expected));
}

TEST(what_is_encoded_is_decoded, setup)
{
	assert_int_equal(decode(24), BFD_TAKEN);
	assert_memory_equal(&decoded, &up, sizeof(up));
}

TEST(clause_6_8_6_refusals, setup)
{
	static const struct {
		unsigned int at;
		uint8_t value;
		enum bfd_refusal refusal;
	} cases[] = {
		{ 0, 0x05, BFD_BAD_VERSION }, { 0, 0x45, BFD_BAD_VERSION },
		{ 3, 23, BFD_TOO_SHORT },     { 3, 25, BFD_TOO_LONG },
		{ 2, 0, BFD_BAD_MULTIPLIER }, { 1, 0xe9, BFD_MULTIPOINT },
		{ 1, 0xec, BFD_TOO_SHORT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		bytes[cases[i].at] = cases[i].value;
		assert_int_equal(decode(24), cases[i].refusal);
	}
	assert_int_equal(decode(23), BFD_TOO_SHORT);
	assert_int_equal(decode(0), BFD_TOO_SHORT);
}

TEST(clause_6_8_6_discriminators, setup)
{
	memset(bytes + 4, 0, 4);
	assert_int_equal(decode(24), BFD_NO_DISCRIMINATOR);
	setup(state);
	memset(bytes + 8, 0, 4);
	for (unsigned int number = 0; number < 4; number++) {
		bytes[1] = (uint8_t)(number << 6);
		assert_int_equal(decode(24), number <= BFD_DOWN ? BFD_TAKEN : BFD_NOT_YOURS);
	}
}

TEST(clause_6_8_6_authentication_is_not_in_use, setup)
{
	bytes[1] |= BFD_FLAG_AUTHENTICATED;
	bytes[3] = 26;
	assert_int_equal(decode(26), BFD_AUTHENTICATED);
}

static enum bfd_frame_kind judge(uint32_t length)
{
	return bfd_frame_judge(frame, length, &us);
}

static uint32_t sum16(const uint8_t *at, size_t size, uint32_t sum)
{
	for (size_t i = 0; i < size; i += 2)
		sum += bfd_frame_word(at + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

TEST(a_frame_of_ipv4, setup)
{
	assert_int_equal(judge(66), BFD_FRAME_GOOD);
	assert_int_equal(frame[22], 255);		    /* RFC 5881, 5 */
	assert_int_equal(bfd_frame_word(frame + 36), 6784); /* RFC 7130, 2.2 */
	assert_memory_equal(frame, ((uint8_t[]){ 0x01, 0x00, 0x5e, 0x90, 0x00, 0x01 }), 6);
	assert_int_equal(bfd_frame_word(frame + 38), 8 + 24);
	assert_memory_equal(frame + bfd_frame_packet_at(&us), bytes, 24);
	assert_int_equal(sum16(frame + 14, 20, 0), 0xffff);
	assert_int_equal(sum16(frame + 34, 32, sum16(frame + 26, 8, 17 + 32)), 0xffff);
}

TEST(a_frame_of_ipv6, setup6)
{
	assert_int_equal(judge(86), BFD_FRAME_GOOD);
	assert_int_equal(frame[21], 255);
	assert_memory_equal(frame + bfd_frame_packet_at(&us), bytes, 24);
	assert_int_equal(sum16(frame + 54, 32, sum16(frame + 22, 32, 17 + 32)), 0xffff);
	frame[21] = 254;
	assert_int_equal(judge(86), BFD_FRAME_BAD);
	frame[21] = 255;
	frame[37]++; /* from another */
	assert_int_equal(judge(86), BFD_FRAME_BAD);
	frame[37]--;
	frame[53]++; /* to another */
	assert_int_equal(judge(86), BFD_FRAME_OTHER);
	frame[53]--;
	assert_int_equal(judge(85), BFD_FRAME_BAD);
}

TEST(frames_of_others_and_bad_ones, setup)
{
	static const struct {
		unsigned int at;
		uint8_t value;
		enum bfd_frame_kind kind;
	} cases[] = {
		{ 22, 254, BFD_FRAME_BAD },    /* TTL: sent from afar */
		{ 29, 3, BFD_FRAME_BAD },      /* from another address */
		{ 33, 9, BFD_FRAME_OTHER },    /* to another address */
		{ 37, 0x81, BFD_FRAME_OTHER }, /* to another port */
		{ 23, 6, BFD_FRAME_OTHER },    /* TCP */
		{ 14, 0x46, BFD_FRAME_OTHER }, /* options */
		{ 20, 0x20, BFD_FRAME_OTHER }, /* a fragment */
		{ 17, 51, BFD_FRAME_BAD },     /* too short for a packet */
		{ 17, 53, BFD_FRAME_BAD },     /* longer than the frame */
		{ 39, 31, BFD_FRAME_BAD },     /* UDP: too short */
		{ 39, 33, BFD_FRAME_BAD },     /* UDP: longer than IP */
		{ 5, 2, BFD_FRAME_BAD },       /* to another group */
		{ 0, 2, BFD_FRAME_GOOD },      /* to one address: the caller knows whose */
		{ 12, 0x86, BFD_FRAME_OTHER }, /* not IPv4 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setup(state);
		frame[cases[i].at] = cases[i].value;
		assert_int_equal(judge(66), cases[i].kind);
	}
	setup(state);
	assert_int_equal(judge(65), BFD_FRAME_BAD);
	assert_int_equal(judge(70), BFD_FRAME_GOOD); /* padding */
}

static void set_sum(uint32_t at, uint32_t sum)
{
	frame[at + 6] = (uint8_t)(sum >> 8);
	frame[at + 7] = (uint8_t)sum;
}

/* RFC 1122, 3.2.1.2 and 4.1.3.4 */
TEST(wrong_checksums, setup)
{
	uint32_t right = bfd_frame_word(frame + 40);

	for (unsigned int at = 0; at < 24; at++) { /* a bit flips on its way through a switch */
		frame[42 + at] ^= 4;
		assert_int_equal(judge(66), BFD_FRAME_BAD);
		frame[42 + at] ^= 4;
	}
	frame[18] ^= 1; /* IP's identification */
	assert_int_equal(judge(66), BFD_FRAME_BAD);
	frame[18] ^= 1;
	set_sum(34, right ^ 1);
	assert_int_equal(judge(66), BFD_FRAME_BAD);
	set_sum(34, 0); /* the sender does not use one */
	assert_int_equal(judge(66), BFD_FRAME_GOOD);
	set_sum(34, sum16(frame + 26, 8, 17 + 32)); /* a virtual NIC: not filled in yet */
	assert_int_equal(judge(66), BFD_FRAME_GOOD);
	set_sum(34, right);
	frame[39]++; /* a datagram of 33 bytes */
	frame[17]++;
	set_sum(18, bfd_frame_word(frame + 24) - 1);
	assert_int_equal(judge(67), BFD_FRAME_GOOD);
}

/* RFC 8200, 8.1: over IPv6 there must be one. */
TEST(wrong_checksums_of_ipv6, setup6)
{
	uint32_t right = bfd_frame_word(frame + 60);

	set_sum(54, right + 1);
	assert_int_equal(judge(86), BFD_FRAME_BAD);
	set_sum(54, 0);
	assert_int_equal(judge(86), BFD_FRAME_BAD);
	set_sum(54, sum16(frame + 22, 32, 17 + 32));
	assert_int_equal(judge(86), BFD_FRAME_GOOD);
	set_sum(54, right);
	assert_int_equal(judge(86), BFD_FRAME_GOOD);
}

/* A sum of 0 is sent as its other form. */
TEST(no_packet_is_sent_without_a_checksum, setup)
{
	struct bfd_packet packet = up;
	unsigned int zeroes = 0;

	for (packet.min_rx_us = 0; packet.min_rx_us < 65536; packet.min_rx_us++) {
		bfd_build_frame(&them, mac, 50000, &packet, frame);
		assert_int_equal(judge(66), BFD_FRAME_GOOD);
		assert_int_not_equal(bfd_frame_word(frame + 40), 0);
		zeroes += bfd_frame_word(frame + 40) == 0xffff;
	}
	assert_true(zeroes);
}

TEST(names, setup)
{
	assert_string_equal(bfd_state_name(BFD_UP), "up");
	assert_string_equal(bfd_state_name(200), "unknown");
	assert_string_equal(bfd_diag_name(1), "control detection time expired");
	assert_string_equal(bfd_diag_name(31), "unknown");
}
