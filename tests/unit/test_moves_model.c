/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random histories of a bond that moves buckets by load: slaves fail for long, return, leave, join
 * and get other weights while moves wait; bondd dies between any two stores. Only rules/, in the
 * order in which bondd calls it.
 */
#include <stdlib.h>
#include <string.h>

#include "rules/buckets.h"
#include "tests/unit/sample.h"
#include "tests/unit/unit.h"

#define MEMBERS 5
#define STEPS 100
#define GAP_NS 100
#define STORES 8 /* of moves_finish() */

static struct xbond_buckets buckets;
static struct xbond_moves moves;
static struct moves_maps maps = { &moves, &buckets, 0 };
static uint32_t member_weight[XBOND_MAX_SLAVES], usable_weight[XBOND_MAX_SLAVES];
static uint64_t now_ns;

static uint8_t *owners(void)
{
	return buckets.bucket[maps.copy];
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random() % limit;
}

/* Of the owners or of the homes. */
static void count_slots(const uint8_t *table, int ret_count[XBOND_MAX_SLAVES])
{
	int count[UINT8_MAX + 1] = { 0 }, members = 0;

	for (int i = 0; i < XBOND_BUCKETS; i++)
		count[table[i]]++;
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		members += count[slot];
	assert_int_equal(members, XBOND_BUCKETS);
	memcpy(ret_count, count, XBOND_MAX_SLAVES * sizeof(*ret_count));
}

static void check_shares(const uint8_t *table, const uint32_t *weight)
{
	int count[XBOND_MAX_SLAVES];
	uint32_t all = 0;

	count_slots(table, count);
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		all += weight[slot];
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		int share = (int)(weight[slot] * XBOND_BUCKETS / all);

		assert_in_range(count[slot], share, share + !!(weight[slot] * XBOND_BUCKETS % all));
	}
}

/* As dataplane_publish() does. */
static void publish(void)
{
	uint8_t *idle = buckets.bucket[!maps.copy];
	int away = 0;

	moves_settle(&maps);
	assert_int_equal(moves_count_waiting(&maps), 0);
	memcpy(idle, owners(), XBOND_BUCKETS);
	buckets_assign(idle, buckets.home, member_weight, usable_weight);
	maps.copy = !maps.copy;
	check_shares(buckets.home, member_weight);
	check_shares(owners(), usable_weight);
	for (int i = 0; i < XBOND_BUCKETS; i++)
		away += usable_weight[buckets.home[i]] && owners()[i] != buckets.home[i];
	assert_int_equal(away, 0);
}

static bool is_last(unsigned int slot)
{
	for (unsigned int other = 0; other < MEMBERS; other++)
		if (other != slot && usable_weight[other])
			return false;
	return true;
}

static void change_a_slave(void)
{
	unsigned int slot = below(MEMBERS);

	switch (below(5)) {
	case 0: /* fails */ usable_weight[slot] = is_last(slot) ? usable_weight[slot] : 0; break;
	case 1: /* leaves */
		if (!is_last(slot))
			member_weight[slot] = usable_weight[slot] = 0;
		break;
	case 2: /* another weight, also of one that is down */
		if (member_weight[slot])
			member_weight[slot] = 1 + below(10);
		usable_weight[slot] = usable_weight[slot] ? member_weight[slot] : 0;
		break;
	default: /* joins or returns */
		if (!member_weight[slot])
			member_weight[slot] = 1 + below(10);
		usable_weight[slot] = member_weight[slot];
	}
	publish();
}

/* At each look; bondd may be late. */
static void finish_what_is_due(void)
{
	bool late = !below(4);

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (moves_wait(&maps, i) && (late || moves_is_due(&maps, i, now_ns)))
			moves_finish(&maps, i, now_ns);
}

/* A few hot buckets on few slots, and noise. */
static void end_of_interval(void)
{
	static struct rebalance_input input;
	static struct rebalance_move plan[REBALANCE_MOVES];
	unsigned int busy = below(MEMBERS), count;

	finish_what_is_due();
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		if (moves_may_give_up(&maps, i))
			moves_give_up(&maps, i);
		input.bytes[i] = below(40) ? below(50) : (1 + below(9)) * UINT64_C(100000);
		input.bytes[i] *= 1 + 2 * (owners()[i] == busy);
		input.may[i] = moves_wait(&maps, i) ? REBALANCE_STAYS : (uint8_t)below(3);
	}
	input.bucket = owners();
	input.home = buckets.home;
	memcpy(input.weight, usable_weight, sizeof(input.weight));
	count = rebalance_plan(&input, plan);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(owners()[plan[i].bucket], plan[i].from);
		assert_int_equal(owners()[plan[i].partner], plan[i].to);
		assert_true(usable_weight[plan[i].to]);
		moves_begin(&maps, plan[i].bucket, plan[i].to, plan[i].partner, now_ns);
	}
}

/* As steer_moving() does. Returns the slot. */
static unsigned int send_packet(unsigned int bucket)
{
	if (!moves.to[bucket])
		return owners()[bucket];
	if (!moves.moved[bucket] && now_ns - moves.seen_ns[bucket] > moves.gap_ns)
		moves.moved[bucket] = 1;
	if (moves.moved[bucket])
		return moves.to[bucket] - 1u;
	moves.seen_ns[bucket] = now_ns;
	return owners()[bucket];
}

static void send_packets(void)
{
	now_ns += below(2 * GAP_NS);
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (moves.to[i] && below(2))
			assert_true(usable_weight[send_packet(i)]);
}

/* Of moves_finish(), only the first so many stores, in its order. */
static void finish_half(unsigned int bucket, unsigned int stores)
{
	static struct xbond_buckets was;
	static struct xbond_moves old, new;
	unsigned int partner = moves.partner[bucket] % XBOND_BUCKETS;
	struct xbond_buckets is;

	was = buckets;
	old = moves;
	moves_finish(&maps, bucket, now_ns);
	is = buckets;
	new = moves;
	buckets = was;
	moves = old;
	if (stores > 0)
		moves.moved[bucket] = new.moved[bucket];
	if (stores > 1)
		buckets.home[bucket] = is.home[bucket];
	if (stores > 2)
		owners()[bucket] = is.bucket[maps.copy][bucket];
	if (stores > 3)
		buckets.home[partner] = is.home[partner];
	if (stores > 4) {
		moves.from[partner] = new.from[partner];
		moves.partner[partner] = new.partner[partner];
	}
	if (stores > 5) {
		moves.moved[partner] = new.moved[partner];
		moves.seen_ns[partner] = new.seen_ns[partner];
	}
	if (stores > 6)
		moves.to[partner] = new.to[partner];
}

/* What the programs have sent by another slave already stays with it when bondd is back. */
static void die_and_return(void)
{
	static uint8_t sends[XBOND_BUCKETS];
	unsigned int bucket = below(XBOND_BUCKETS), changed = 0;

	for (unsigned int i = 0; i < XBOND_BUCKETS && !moves.to[bucket]; i++)
		bucket = (bucket + 1) % XBOND_BUCKETS;
	if (moves.to[bucket])
		finish_half(bucket, below(STORES));
	send_packets();
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		sends[i] = moves.to[i] && moves.moved[i] ? moves.to[i] - 1 : XBOND_NO_SLOT;
	publish();
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		changed += sends[i] != XBOND_NO_SLOT && owners()[i] != sends[i];
	assert_int_equal(changed, 0);
}

static void let_all_moves_end(void)
{
	while (moves_count_waiting(&maps)) {
		now_ns += GAP_NS + 1;
		finish_what_is_due();
	}
}

/* Each slot keeps its number, and a slave that is down its home. */
static void rounds_keep_shares_and_homes(void)
{
	int had[XBOND_MAX_SLAVES], has[XBOND_MAX_SLAVES];
	uint8_t home[XBOND_BUCKETS];

	publish();
	count_slots(owners(), had);
	memcpy(home, buckets.home, sizeof(home));
	for (int round = 0; round < 3; round++) {
		end_of_interval();
		send_packets();
		finish_what_is_due();
	}
	let_all_moves_end();
	count_slots(owners(), has);
	assert_memory_equal(had, has, sizeof(had));
	for (int i = 0; i < XBOND_BUCKETS; i++)
		if (!usable_weight[home[i]] || !usable_weight[buckets.home[i]])
			assert_int_equal(home[i], buckets.home[i]);
}

/* Nor does anybody lose what has moved to him; only guests of others that are down are dealt anew.
 */
static void one_failure_changes_no_homes(void)
{
	uint8_t before[XBOND_BUCKETS], home[XBOND_BUCKETS];
	unsigned int slot = below(MEMBERS);
	uint32_t weight = usable_weight[slot];

	publish();
	memcpy(before, owners(), sizeof(before));
	memcpy(home, buckets.home, sizeof(home));
	usable_weight[slot] = is_last(slot) ? weight : 0;
	publish();
	usable_weight[slot] = weight;
	publish();
	assert_memory_equal(home, buckets.home, sizeof(home));
	for (int i = 0; i < XBOND_BUCKETS; i++)
		assert_true(before[i] != home[i] || owners()[i] == before[i]);
}

static void begin(unsigned int seed)
{
	srandom(seed);
	memset(&buckets, XBOND_NO_SLOT, sizeof(buckets));
	memset(&moves, 0, sizeof(moves));
	moves.gap_ns = GAP_NS;
	maps.copy = 0;
	now_ns = 1000;
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		member_weight[slot] = usable_weight[slot] = 1 + below(10);
	publish();
}

TEST(histories)
{
	unsigned int count = sample_size(4, 15);

	for (unsigned int history = 0; history < count; history++) {
		begin(sample_seed() + history);
		for (int step = 0; step < STEPS; step++) {
			switch (below(8)) {
			case 0: change_a_slave(); break;
			case 1: die_and_return(); break;
			case 2:
			case 3: end_of_interval(); break;
			case 4: finish_what_is_due(); break;
			default: send_packets();
			}
		}
		rounds_keep_shares_and_homes();
		one_failure_changes_no_homes();
	}
}
