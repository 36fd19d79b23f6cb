/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Codec of LACPDU (6.4.2.3) and Marker PDU (6.5.3.2): shapes, tolerance, and everything that must
 * be refused.
 */
#include "tests/unit/test_lacp.h"

static uint8_t frame[200];
static struct lacp_decoded decoded;
static const uint8_t source[] = { 2, 2, 2, 2, 2, 2 };

static int setup(void **state)
{
	struct lacp_info actor = { { 1, 2, 3, 4, 5, 6 }, 0x1122, 0x3344, 0x5566, 0x7788, 0x3f, 0 };
	struct lacp_info partner = {
		{ 6, 5, 4, 3, 2, 1 }, 0x0102, 0x0304, 0x0506, 0x0708, 0x45, 0
	};

	memset(frame, 0, sizeof(frame));
	lacp_pdu_encode(frame, source, &actor, &partner);
	return 0;
}

static enum lacp_pdu_kind decode(size_t length)
{
	lacp_pdu_decode(frame, length, &decoded);
	return decoded.kind;
}

TEST(clause_6_4_2_3_layout, setup)
{
	static const uint8_t head[] = {
		1,  0x80, 0xc2, 0, 0, 2, 2, 2, 2, 2,	2,    2,    0x88, 9,	1,    1,   1,
		20, 0x11, 0x22, 1, 2, 3, 4, 5, 6, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x3f
	};

	assert_memory_equal(frame, head, sizeof(head));
	assert_int_equal(frame[14 + 22], 2);
	assert_int_equal(frame[14 + 23], 20);
	assert_int_equal(frame[14 + 42], 3);
	assert_int_equal(frame[14 + 43], 16);
	for (int i = 14 + 44; i < LACP_PDU_SIZE; i++)
		assert_int_equal(frame[i], 0);
}

TEST(what_is_encoded_is_decoded, setup)
{
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_LACP);
	assert_int_equal(decoded.pdu.actor.key, 0x3344);
	assert_int_equal(decoded.pdu.actor.state, 0x3f);
	assert_int_equal(decoded.pdu.partner.port, 0x0708);
	assert_int_equal(decoded.pdu.partner.system[0], 6);
}

TEST(longer_frames_are_fine_shorter_are_illegal, setup)
{
	assert_int_equal(decode(sizeof(frame)), LACP_PDU_LACP);
	for (size_t length = 15; length < LACP_PDU_SIZE; length++)
		assert_int_equal(decode(length), LACP_PDU_ILLEGAL);
	for (size_t length = 0; length < 15; length++)
		assert_int_equal(decode(length), LACP_PDU_UNKNOWN);
}

TEST(clause_6_4_12_version_types_and_reserved_are_not_checked, setup)
{
	static const uint8_t versions[] = { 0, 1, 2, 0xf1, 0xff };

	frame[14 + 2] = 0x77;
	frame[14 + 22] = 0x77;
	frame[14 + 60] = 0x77;
	for (unsigned int i = 0; i < sizeof(versions); i++) {
		frame[15] = versions[i];
		assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_LACP);
		assert_int_equal(decoded.pdu.version, versions[i]);
		assert_int_equal(decoded.pdu.actor.key, 0x3344);
	}
}

TEST(clause_6_4_12_lengths_are, setup)
{
	static const uint8_t at[] = { 14 + 3, 14 + 23, 14 + 43 };

	for (unsigned int i = 0; i < sizeof(at); i++)
		for (unsigned int wrong = 0; wrong < 256; wrong++) {
			uint8_t right = frame[at[i]];

			frame[at[i]] = (uint8_t)wrong;
			assert_int_equal(decode(LACP_PDU_SIZE),
					 wrong == right ? LACP_PDU_LACP : LACP_PDU_ILLEGAL);
			frame[at[i]] = right;
		}
}

TEST(port_zero_is_illegal, setup)
{
	frame[14 + 16] = frame[14 + 17] = 0;
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_ILLEGAL);
}

TEST(vlan_zero_is_skipped_other_vlans_are_not_ours, setup)
{
	static const uint8_t tag[] = { 0x81, 0x00, 0xe0, 0x00 };

	memmove(frame + 16, frame + 12, LACP_PDU_SIZE - 12);
	memcpy(frame + 12, tag, sizeof(tag));
	assert_int_equal(decode(LACP_PDU_SIZE + 4), LACP_PDU_LACP);
	assert_int_equal(decoded.pdu.actor.key, 0x3344);
	assert_int_equal(decode(LACP_PDU_SIZE + 3), LACP_PDU_ILLEGAL);
	for (size_t length = 0; length < 19; length++)
		assert_int_equal(decode(length), LACP_PDU_UNKNOWN);
	frame[15] = 1;
	assert_int_equal(decode(LACP_PDU_SIZE + 4), LACP_PDU_UNKNOWN);
}

TEST(other_frames_are_unknown_and_impossible_subtypes_illegal, setup)
{
	for (unsigned int subtype = 0; subtype < 256; subtype++) {
		frame[14] = (uint8_t)subtype;
		if (subtype == 0 || subtype > 10)
			assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_ILLEGAL);
		else if (subtype > 2)
			assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_UNKNOWN);
	}
	frame[14] = 1;
	frame[5] = 3;
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_UNKNOWN);
	frame[5] = 2;
	frame[13] = 0;
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_UNKNOWN);
}

TEST(clause_6_5_3_2_markers, setup)
{
	struct lacp_marker marker = { { 1, 2, 3, 4, 5, 6 }, 0x1234, 0xdeadbeef };

	lacp_marker_encode(frame, source, &marker, LACP_PDU_MARKER);
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_MARKER);
	assert_memory_equal(&decoded.marker, &marker, sizeof(marker));
	lacp_marker_encode(frame, source, &marker, LACP_PDU_MARKER_RESPONSE);
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_MARKER_RESPONSE);
	assert_int_equal(frame[14], 2);
	assert_int_equal(decode(LACP_PDU_SIZE - 1), LACP_PDU_ILLEGAL);
	frame[16] = 3;
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_ILLEGAL);
	frame[16] = 1;
	frame[17] = 15;
	assert_int_equal(decode(LACP_PDU_SIZE), LACP_PDU_ILLEGAL);
}

/* To be run under a sanitizer, too. */
TEST(random_octets_do_no_harm, setup)
{
	uint32_t random = 1;

	for (int i = 0; i < 100000; i++) {
		for (unsigned int at = 14; at < 60; at++) {
			random = random * 1103515245 + 12345;
			if (random >> 28 == 0)
				frame[at] = (uint8_t)(random >> 16);
		}
		decode(random >> 8 & 127);
	}
}
