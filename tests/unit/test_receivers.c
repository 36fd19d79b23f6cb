/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-alb: which slave each client gets. */
#include <string.h>

#include "rules/active.h"
#include "tests/unit/unit.h"

TEST(the_fastest)
{
	uint32_t speed[XBOND_MAX_SLAVES] = { 1000, 10000, 0, 10000, 25000 };

	assert_true(receivers_fastest(0xf, speed) == 0xa);
	assert_true(receivers_fastest(0x5, speed) == 0x1);
	assert_true(receivers_fastest(0x4, speed) == 0x4);
	assert_true(receivers_fastest(0, speed) == 0);
	assert_true(receivers_fastest(1ULL << 63 | 0x4, speed) == (1ULL << 63 | 0x4));
}

/* Only clients of slaves that do not work get another, and they spread. */
TEST(a_slave_fails)
{
	uint8_t slot[] = { 0, 1, 2, 2, 0, 2, XBOND_NO_SLOT, 2 };
	const uint8_t expected[] = { 0, 1, 1, 0, 0, 1, 0, 1 };

	receivers_share(slot, sizeof(slot), 0x3, 0x3, false);
	assert_true(!memcmp(slot, expected, sizeof(slot)));
}

/* No more move than the new slave's share. */
TEST(a_slave_joins)
{
	uint8_t slot[] = { 0, 0, 0, 1, 1, 1 }, count[3] = { 0 };
	unsigned int moved = 0;

	receivers_share(slot, sizeof(slot), 0x7, 0x7, true);
	for (unsigned int i = 0; i < sizeof(slot); i++) {
		count[slot[i]]++;
		moved += slot[i] == 2;
	}
	assert_true(moved == 2 && count[0] == 2 && count[1] == 2);
}

/* A slave that works but is slow keeps its clients until they are levelled. */
TEST(a_slow_slave)
{
	uint8_t slot[] = { 0, 0, 1 };

	receivers_share(slot, sizeof(slot), 0x3, 0x2, false);
	assert_true(slot[0] == 0 && slot[1] == 0 && slot[2] == 1);
	receivers_share(slot, sizeof(slot), 0x3, 0x2, true);
	assert_true(slot[0] == 1 && slot[1] == 1 && slot[2] == 1);
	receivers_share(slot, sizeof(slot), 0, 0, true);
	assert_true(slot[0] == 1);
}
