/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/buckets.h"

#include <stdbool.h>
#include <string.h>

#include "bpf/slots.h"

#define LEAST_PERCENT 2 /* of all traffic */

static bool base_load_matters(uint64_t bytes, uint64_t all)
{
	return bytes > all / 100 * LEAST_PERCENT;
}

static uint64_t base_load_sum(const uint64_t *values, unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* Bytes of buckets that have changed owners. */
static uint64_t base_load_moved(const struct base_load_input *input)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (input->owner_was[i] != input->owner_is[i])
			sum += input->bytes[i];
	return sum;
}

static void base_load_subtract(const struct base_load_input *input, uint64_t base[XBOND_MAX_SLAVES])
{
	memcpy(base, input->sent, sizeof(input->sent));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		uint8_t slot = input->owner_is[i];

		if (slot < XBOND_MAX_SLAVES)
			base[slot] -= input->bytes[i] < base[slot] ? input->bytes[i] : base[slot];
	}
}

bool base_load(const struct base_load_input *input, uint64_t ret_base[XBOND_MAX_SLAVES])
{
	uint64_t all = base_load_sum(input->sent, XBOND_MAX_SLAVES);
	uint64_t in_buckets = base_load_sum(input->bytes, XBOND_BUCKETS);

	memset(ret_base, 0, sizeof(input->sent));
	if (in_buckets >= all || !base_load_matters(all - in_buckets, all))
		return true;
	if (base_load_matters(base_load_moved(input), all))
		return false;
	base_load_subtract(input, ret_base);
	return true;
}

#define LEAST_GAIN 0.10
#define LEAST_GAIN_IF_FULL 0.03 /* of a plan that has no room for all moves; others follow */
#define ROUNDING 1e-9
#define MUCH_BETTER 0.05 /* than one by one, which moves less */
#define ABOUT_EVEN 1.1	 /* of the average: a slave that gets buckets is filled so far first */
#define EVEN_ENOUGH 0.03 /* of the busiest slave's load: less is left alone */
#define HOT 12		 /* buckets of which every distribution is tried */
#define AS_EVEN 1.005	 /* a distribution that is no more than so much worse */
#define PAIRS_TRIED 8	 /* of slots, in a plan */

struct rebalance {
	const struct rebalance_input *input;
	uint8_t owner[XBOND_BUCKETS];
	bool used[XBOND_BUCKETS];      /* is in the plan */
	double load[XBOND_MAX_SLAVES]; /* bytes by weight */
	uint64_t stuck;		       /* slots that nothing can be taken from */
	uint64_t changed;	       /* slots whose load the plan changes */
};

struct pair {
	int from, to;
	double limit; /* the load that the second one may have then */
};

static void rebalance_begin(struct rebalance *state, const struct rebalance_input *input)
{
	memset(state, 0, sizeof(*state));
	state->input = input;
	memcpy(state->owner, input->bucket, sizeof(state->owner));
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (input->weight[slot])
			state->load[slot] = (double)input->base[slot] / input->weight[slot];
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (state->owner[i] < XBOND_MAX_SLAVES && input->weight[state->owner[i]])
			state->load[state->owner[i]] +=
				(double)input->bytes[i] / input->weight[state->owner[i]];
}

/* Of the slots that are not `without`: the one with the most load; -1: there is none. */
static int rebalance_busiest(const struct rebalance *state, uint64_t without)
{
	int best = -1;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (state->input->weight[slot] && !slots_have(without, (unsigned int)slot) &&
		    (best < 0 || state->load[slot] > state->load[best]))
			best = slot;
	return best;
}

/*
 * Of the slots with more weight than this: the idlest; -1: it is as busy as `from`, or nearly so.
 */
static int rebalance_taker(const struct rebalance *state, int from, uint32_t weight)
{
	int best = -1;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (state->input->weight[slot] > weight &&
		    (best < 0 || state->load[slot] < state->load[best]))
			best = slot;
	return best >= 0 && state->load[from] - state->load[best] > state->load[from] * EVEN_ENOUGH
		       ? best
		       : -1;
}

/* The busiest of the slots that are not `without`; -1: it is not worth it. */
static int rebalance_giver(const struct rebalance *state, uint64_t without)
{
	int from = rebalance_busiest(state, without);

	return from >= 0 && rebalance_taker(state, from, 0) >= 0 &&
			       state->load[from] * state->input->weight[from] >=
				       (double)state->input->least
		       ? from
		       : -1;
}

static double rebalance_average(const struct rebalance *state)
{
	double bytes = 0, weight = 0;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		bytes += state->load[slot] * state->input->weight[slot];
		weight += state->input->weight[slot];
	}
	return bytes / weight;
}

/* Would the buckets' home make them stay where they go? */
static bool rebalance_is_home(const struct rebalance *state, unsigned int i)
{
	return state->input->home[i] == state->input->bucket[i];
}

static bool rebalance_is_free(const struct rebalance *state, unsigned int i, int slot)
{
	return state->owner[i] == slot && !state->used[i] && state->input->may[i];
}

/* The coldest bucket of the slot, which silent ones are before live ones of the same load. */
static int rebalance_coldest(const struct rebalance *state, int slot, bool home)
{
	const struct rebalance_input *input = state->input;
	int best = -1;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (rebalance_is_free(state, i, slot) && rebalance_is_home(state, i) == home &&
		    (best < 0 || input->bytes[i] < input->bytes[best] ||
		     (input->bytes[i] == input->bytes[best] && input->may[i] > input->may[best])))
			best = (int)i;
	return best;
}

/*
 * How good it is to take the bucket: the largest that does not make the other slave the busier one,
 * or else the smallest. 0: the other slave would have more than `limit`. Silent buckets are better
 * than any live one.
 */
static double rebalance_score(const struct rebalance *state, unsigned int i, uint64_t net,
			      const struct pair *pair)
{
	const struct rebalance_input *input = state->input;
	double wf = input->weight[pair->from], wt = input->weight[pair->to], bytes = (double)net;
	double ideal = (state->load[pair->from] - state->load[pair->to]) * wf * wt / (wf + wt);
	double score;

	if (!net || state->load[pair->to] + bytes / wt >= pair->limit)
		return 0;
	score = bytes <= ideal ? bytes / ideal : ideal / bytes / 2;
	return input->may[i] == REBALANCE_SILENT ? 1 + score : score;
}

static bool rebalance_find(const struct rebalance *state, const struct pair *pair,
			   struct rebalance_move *ret_move)
{
	const struct rebalance_input *input = state->input;
	const int partner[] = { rebalance_coldest(state, pair->to, false),
				rebalance_coldest(state, pair->to, true) };
	double best = 0;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		int other = partner[rebalance_is_home(state, i)];
		double score;

		if (!rebalance_is_free(state, i, pair->from) || other < 0 ||
		    input->bytes[i] <= input->bytes[other])
			continue;
		score = rebalance_score(state, i, input->bytes[i] - input->bytes[other], pair);
		if (score <= best)
			continue;
		best = score;
		*ret_move = (struct rebalance_move){ .bucket = (uint16_t)i,
						     .partner = (uint16_t)other,
						     .from = (uint8_t)pair->from,
						     .to = (uint8_t)pair->to };
	}
	return best > 0;
}

static void rebalance_apply(struct rebalance *state, const struct rebalance_move *move)
{
	const struct rebalance_input *input = state->input;
	double net = (double)(input->bytes[move->bucket] - input->bytes[move->partner]);

	state->owner[move->bucket] = move->to;
	state->owner[move->partner] = move->from;
	state->used[move->bucket] = state->used[move->partner] = true;
	state->load[move->from] -= net / input->weight[move->from];
	state->load[move->to] += net / input->weight[move->to];
	state->changed |= slots_bit(move->from) | slots_bit(move->to);
}

/*
 * What is too much for the idlest slot is too much for all that are busier, except for those of
 * more weight.
 */
static bool rebalance_find_within(const struct rebalance *state, int from, double limit,
				  struct rebalance_move *ret_move)
{
	int to = rebalance_taker(state, from, 0);

	for (; to >= 0; to = rebalance_taker(state, from, state->input->weight[to])) {
		const struct pair pair = { from, to, limit };

		if (rebalance_find(state, &pair, ret_move))
			return true;
	}
	return false;
}

/* What would be much for a slow slot may be little for a faster one, so all are asked first. */
static bool rebalance_find_any(const struct rebalance *state, int from,
			       struct rebalance_move *ret_move)
{
	double load = state->load[from], even = rebalance_average(state) * ABOUT_EVEN;

	return rebalance_find_within(state, from, even < load ? even : load, ret_move) ||
	       (even < load && rebalance_find_within(state, from, load, ret_move));
}

/* A gain of exactly the least counts, however it is rounded. */
static bool rebalance_is_worth_it(double before, double after)
{
	return after <= before * (1 - LEAST_GAIN + ROUNDING);
}

/*
 * The part of its load that the busiest slot gets rid of, not counting slots that nothing could be
 * taken from; 0: too little to be worth it. Of a full plan this may be the beginning of what is.
 */
static double rebalance_gain(const struct rebalance *before, const struct rebalance *after,
			     unsigned int count)
{
	uint64_t stuck = after->stuck & ~after->changed;
	int was = rebalance_busiest(before, stuck), is = rebalance_busiest(after, stuck);
	double gain, least = LEAST_GAIN - ROUNDING;

	if (was < 0 || before->load[was] <= 0)
		return 0;
	if (count == REBALANCE_MOVES &&
	    rebalance_is_worth_it(before->load[was], rebalance_average(before)))
		least = LEAST_GAIN_IF_FULL;
	gain = 1 - after->load[is] / before->load[was];
	return gain >= least ? gain : 0;
}

/* One bucket after the other, as long as each makes it better. Adds to the moves; returns all. */
static unsigned int rebalance_one_by_one(struct rebalance *state, unsigned int count,
					 struct rebalance_move moves[REBALANCE_MOVES])
{
	int from;

	while (count < REBALANCE_MOVES && (from = rebalance_giver(state, state->stuck)) >= 0) {
		if (rebalance_find_any(state, from, &moves[count]))
			rebalance_apply(state, &moves[count++]);
		else
			state->stuck |= slots_bit((unsigned int)from);
	}
	return count;
}

struct hot {
	int slot[2]; /* the busiest and the idlest */
	uint16_t bucket[HOT];
	unsigned int count;
};

/* The hottest buckets of both slots that may move, hottest first. */
static void rebalance_hottest(const struct rebalance *state, struct hot *hot)
{
	const uint64_t *bytes = state->input->bytes;
	unsigned int at;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		if (!bytes[i] ||
		    (!rebalance_is_free(state, i, hot->slot[0]) &&
		     !rebalance_is_free(state, i, hot->slot[1])) ||
		    (hot->count == HOT && bytes[i] <= bytes[hot->bucket[HOT - 1]]))
			continue;
		at = hot->count < HOT ? hot->count++ : HOT - 1;
		for (; at && bytes[hot->bucket[at - 1]] < bytes[i]; at--)
			hot->bucket[at] = hot->bucket[at - 1];
		hot->bucket[at] = (uint16_t)i;
	}
}

/* The load of the busier of the two if the buckets of the set changed sides. */
static double rebalance_peak_with(const struct rebalance *state, const struct hot *hot,
				  unsigned int set, double *ret_moved)
{
	const uint32_t *weight = state->input->weight;
	double net = 0, from, to;

	*ret_moved = 0;
	for (unsigned int i = 0; i < hot->count; i++) {
		double bytes = set >> i & 1 ? (double)state->input->bytes[hot->bucket[i]] : 0;

		net += state->owner[hot->bucket[i]] == hot->slot[0] ? bytes : -bytes;
		*ret_moved += bytes;
	}
	from = state->load[hot->slot[0]] - net / weight[hot->slot[0]];
	to = state->load[hot->slot[1]] + net / weight[hot->slot[1]];
	return from > to ? from : to;
}

/* What is about as good as the best will do, unless only the best is worth it. */
static double rebalance_good_enough(double before, double best)
{
	double limit = best * AS_EVEN;

	return rebalance_is_worth_it(before, limit) || !rebalance_is_worth_it(before, best) ? limit
											    : best;
}

/* The set that makes the two even; of those that are about as good, the one that moves least. */
static unsigned int rebalance_best_set(const struct rebalance *state, const struct hot *hot)
{
	double moved, least = 0, limit, before = rebalance_peak_with(state, hot, 0, &moved);
	double best = before;
	unsigned int set = 0;
	bool found = false;

	for (unsigned int i = 1; i < 1U << hot->count; i++) {
		double peak = rebalance_peak_with(state, hot, i, &moved);

		best = peak < best ? peak : best;
	}
	limit = rebalance_good_enough(before, best);
	for (unsigned int i = 0; i < 1U << hot->count; i++) {
		bool good = rebalance_peak_with(state, hot, i, &moved) <= limit;

		if (!good || (found && moved >= least))
			continue;
		found = true;
		set = i;
		least = moved;
	}
	return set;
}

static void rebalance_move_hot(struct rebalance *state, const struct hot *hot, unsigned int i,
			       struct rebalance_move *moves, unsigned int *count)
{
	const uint64_t *bytes = state->input->bytes;
	unsigned int bucket = hot->bucket[i];
	bool is_back = state->owner[bucket] == hot->slot[1];
	int from = hot->slot[is_back], to = hot->slot[!is_back];
	int partner = rebalance_coldest(state, to, rebalance_is_home(state, bucket));

	if (state->used[bucket] || partner < 0 || bytes[partner] >= bytes[bucket])
		return;
	moves[*count] = (struct rebalance_move){ .bucket = (uint16_t)bucket,
						 .partner = (uint16_t)partner,
						 .from = (uint8_t)from,
						 .to = (uint8_t)to };
	rebalance_apply(state, &moves[(*count)++]);
}

/* Elephants of two slots, to and fro. Returns how many moves there are. */
static unsigned int rebalance_pair(struct rebalance *state, int from, int to,
				   struct rebalance_move moves[HOT])
{
	struct hot hot = { .slot = { from, to } };
	unsigned int set, count = 0;

	rebalance_hottest(state, &hot);
	set = rebalance_best_set(state, &hot);
	for (unsigned int i = 0; i < hot.count; i++)
		if (set >> i & 1)
			rebalance_move_hot(state, &hot, i, moves, &count);
	return count;
}

/* Of the busiest slot and the idlest one for which there is a better distribution. */
static unsigned int rebalance_first_pair(struct rebalance *state,
					 struct rebalance_move moves[REBALANCE_MOVES])
{
	unsigned int count = 0, pairs = 0;
	uint64_t tried = 0;
	int from, to;

	while (!count && pairs < PAIRS_TRIED && (from = rebalance_giver(state, tried)) >= 0) {
		tried |= slots_bit((unsigned int)from);
		to = rebalance_taker(state, from, 0);
		for (; to >= 0 && !count && pairs < PAIRS_TRIED; pairs++) {
			count = rebalance_pair(state, from, to, moves);
			to = rebalance_taker(state, from, state->input->weight[to]);
		}
	}
	return count;
}

/* For elephants of different sizes, where each step that looks good may lead into a dead end. */
static unsigned int rebalance_elephants(struct rebalance *state,
					struct rebalance_move moves[REBALANCE_MOVES])
{
	return rebalance_one_by_one(state, rebalance_first_pair(state, moves), moves);
}

unsigned int rebalance_plan(const struct rebalance_input *input,
			    struct rebalance_move ret_moves[REBALANCE_MOVES])
{
	struct rebalance_move moves[REBALANCE_MOVES];
	struct rebalance before, simple, state;
	unsigned int count, others;

	rebalance_begin(&before, input);
	simple = state = before;
	count = rebalance_one_by_one(&simple, 0, ret_moves);
	others = rebalance_elephants(&state, moves);
	if (rebalance_gain(&before, &state, others) >
	    rebalance_gain(&before, &simple, count) + MUCH_BETTER) {
		memcpy(ret_moves, moves, others * sizeof(*moves));
		simple = state;
		count = others;
	}
	return rebalance_gain(&before, &simple, count) > 0 ? count : 0;
}
