/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/rebalance.h"

#include <stdbool.h>
#include <string.h>

#include "common/slots.h"

#define LEAST_GAIN 0.10
#define EVEN_ENOUGH 0.03 /* of the busiest slave's load: less is left alone */

struct rebalance {
	const struct rebalance_input *input;
	uint8_t owner[XBOND_BUCKETS];
	bool used[XBOND_BUCKETS];      /* is in the plan */
	double load[XBOND_MAX_SLAVES]; /* bytes by weight */
	uint64_t stuck;		       /* slots that nothing can be taken from */
	uint64_t relieved;
};

static void rebalance_begin(struct rebalance *state, const struct rebalance_input *input)
{
	memset(state, 0, sizeof(*state));
	state->input = input;
	memcpy(state->owner, input->bucket, sizeof(state->owner));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (state->owner[i] < XBOND_MAX_SLAVES && input->weight[state->owner[i]])
			state->load[state->owner[i]] +=
				(double)input->bytes[i] / input->weight[state->owner[i]];
}

/* Of the slots that are not `without`: the one with the most load (sign 1), or the least (-1). */
static int rebalance_extreme(const struct rebalance *state, int sign, uint64_t without)
{
	int best = -1;

	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (state->input->weight[slot] && !slots_have(without, (unsigned int)slot) &&
		    (best < 0 || sign * state->load[slot] > sign * state->load[best]))
			best = slot;
	return best;
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
 * or else the smallest. 0: it is no gain. Silent buckets are better than any live one.
 */
static double rebalance_score(const struct rebalance *state, unsigned int i, uint64_t net, int from,
			      int to)
{
	const struct rebalance_input *input = state->input;
	double wf = input->weight[from], wt = input->weight[to], bytes = (double)net;
	double ideal = (state->load[from] - state->load[to]) * wf * wt / (wf + wt);
	double score;

	if (!net || state->load[to] + bytes / wt >= state->load[from])
		return 0;
	score = bytes <= ideal ? bytes / ideal : ideal / bytes / 2;
	return input->may[i] == REBALANCE_SILENT ? 1 + score : score;
}

static bool rebalance_find(const struct rebalance *state, int from, int to,
			   struct rebalance_move *ret_move)
{
	const struct rebalance_input *input = state->input;
	const int partner[] = { rebalance_coldest(state, to, false),
				rebalance_coldest(state, to, true) };
	double best = 0;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		int other = partner[rebalance_is_home(state, i)];
		double score;

		if (!rebalance_is_free(state, i, from) || other < 0 ||
		    input->bytes[i] <= input->bytes[other])
			continue;
		score = rebalance_score(state, i, input->bytes[i] - input->bytes[other], from, to);
		if (score <= best)
			continue;
		best = score;
		*ret_move = (struct rebalance_move){ .bucket = (uint16_t)i,
						     .partner = (uint16_t)other,
						     .from = (uint8_t)from,
						     .to = (uint8_t)to };
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
	state->relieved |= slots_bit(move->from);
}

/* Returns false if nothing is left to be done. */
static bool rebalance_step(struct rebalance *state, struct rebalance_move *ret_move,
			   bool *ret_found)
{
	int from = rebalance_extreme(state, 1, state->stuck);
	int to = rebalance_extreme(state, -1, 0);

	*ret_found = false;
	if (from < 0 || to < 0 ||
	    state->load[from] - state->load[to] <= state->load[from] * EVEN_ENOUGH ||
	    state->load[from] * state->input->weight[from] < (double)state->input->least)
		return false;
	*ret_found = rebalance_find(state, from, to, ret_move);
	if (*ret_found)
		rebalance_apply(state, ret_move);
	else
		state->stuck |= slots_bit((unsigned int)from);
	return true;
}

/* The load of the busiest slot, without those that nothing could be taken from. */
static double rebalance_peak(const struct rebalance *state, const struct rebalance *result)
{
	int slot = rebalance_extreme(state, 1, result->stuck & ~result->relieved);

	return slot < 0 ? 0 : state->load[slot];
}

unsigned int rebalance_plan(const struct rebalance_input *input,
			    struct rebalance_move ret_moves[REBALANCE_MOVES])
{
	struct rebalance before, state;
	unsigned int count = 0;
	bool found;

	rebalance_begin(&before, input);
	state = before;
	while (count < REBALANCE_MOVES && rebalance_step(&state, &ret_moves[count], &found))
		count += found;
	if (rebalance_peak(&state, &state) > (1 - LEAST_GAIN) * rebalance_peak(&before, &state))
		return 0;
	return count;
}
