/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/link_state.h"

#include "common/clock.h"

static struct carrier_state carrier_settled(enum xbond_link link)
{
	return (struct carrier_state){ .link = link };
}

static struct carrier_state carrier_delayed(enum xbond_link link, const struct carrier_input *input,
					    uint32_t delay_ms)
{
	return (struct carrier_state){ .link = link,
				       .deadline_ns = input->now_ns + delay_ms * NS_PER_MS };
}

/*
 * The delay that is running: never longer than the option is now. It starts again if it was running
 * when an earlier bondd died.
 */
static struct carrier_state carrier_going(struct carrier_state state,
					  const struct carrier_input *input)
{
	uint32_t delay_ms =
		state.link == XBOND_LINK_GOING_UP ? input->updelay_ms : input->downdelay_ms;
	struct carrier_state whole = carrier_delayed(state.link, input, delay_ms);

	return state.deadline_ns && state.deadline_ns < whole.deadline_ns ? state : whole;
}

struct carrier_state carrier_next(struct carrier_state state, const struct carrier_input *input)
{
	bool due;

	if (state.link == XBOND_LINK_GOING_DOWN || state.link == XBOND_LINK_GOING_UP)
		state = carrier_going(state, input);
	due = input->now_ns >= state.deadline_ns;

	switch (state.link) {
	case XBOND_LINK_UP:
		if (input->carrier)
			return state;
		return input->downdelay_ms
			       ? carrier_delayed(XBOND_LINK_GOING_DOWN, input, input->downdelay_ms)
			       : carrier_settled(XBOND_LINK_DOWN);
	case XBOND_LINK_GOING_DOWN:
		if (input->carrier)
			return carrier_settled(XBOND_LINK_UP);
		return due ? carrier_settled(XBOND_LINK_DOWN) : state;
	case XBOND_LINK_DOWN:
		if (!input->carrier)
			return state;
		return input->updelay_ms && !input->needed
			       ? carrier_delayed(XBOND_LINK_GOING_UP, input, input->updelay_ms)
			       : carrier_settled(XBOND_LINK_UP);
	case XBOND_LINK_GOING_UP:
		if (!input->carrier)
			return carrier_settled(XBOND_LINK_DOWN);
		return due || input->needed ? carrier_settled(XBOND_LINK_UP) : state;
	}
	return carrier_settled(XBOND_LINK_DOWN);
}

#define PROBING_FILTER XBOND_ARP_VALIDATE_FILTER /* a bit of the other values */

static uint64_t probing_latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool probing_sends(enum probing_role role)
{
	return role == PROBING_ACTIVE || role == PROBING_CANDIDATE;
}

static bool probing_is_validated(const struct probing_rule *rule, enum probing_role role)
{
	return rule->validate &
	       (probing_sends(role) ? XBOND_ARP_VALIDATE_ACTIVE : XBOND_ARP_VALIDATE_BACKUP);
}

static uint64_t probing_of_targets(const struct probing_rule *rule, const __u64 *heard_ns)
{
	uint64_t latest = 0, earliest = UINT64_MAX;

	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++) {
		if (!(rule->targets >> i & 1))
			continue;
		latest = probing_latest(latest, heard_ns[i]);
		if (heard_ns[i] < earliest)
			earliest = heard_ns[i];
	}
	return rule->all_targets && rule->targets ? earliest : latest;
}

uint64_t probing_last_ns(const struct probing_rule *rule, enum probing_role role,
			 const struct probing_heard *heard, bool is_answered)
{
	const struct xbond_probe_times *times = heard->times;

	if (!probing_is_validated(rule, role))
		return rule->validate & PROBING_FILTER
			       ? times->neighbour_ns
			       : probing_latest(probing_latest(heard->any_ns, times->uncounted_ns),
						times->neighbour_ns);
	if (role != PROBING_BACKUP) /* switches that learn late may lead an answer to any slave */
		return probing_of_targets(rule, times->from_ns);
	return is_answered ? probing_of_targets(rule, times->to_ns) : 0;
}

/* As long as the first two probes and their answers may take. */
static bool probing_has_grace(const struct probing_rule *rule, const struct probing_state *state,
			      uint64_t now_ns)
{
	return now_ns <= state->since_ns + rule->interval_ns * 5 / 2;
}

enum probing_verdict probing_step(const struct probing_rule *rule, enum probing_role role,
				  struct probing_state *state, uint64_t last_ns, uint64_t begun_ns,
				  uint64_t now_ns)
{
	uint32_t limit = rule->missed_max + (role == PROBING_BACKUP);

	if (last_ns && last_ns + rule->interval_ns / 2 >= begun_ns) {
		state->missed = 0;
		return PROBING_UP;
	}
	if (state->missed < UINT32_MAX)
		state->missed++;
	/* While an active slave is looked for, each slave shall have its turn first. */
	if (state->missed < limit || role == PROBING_CANDIDATE || role == PROBING_OTHER ||
	    probing_has_grace(rule, state, now_ns))
		return PROBING_UNCHANGED;
	return PROBING_DOWN;
}

#define HOLD_DOWN_FIRST_NS (10 * NS_PER_S)
#define HOLD_DOWN_LONGEST_NS (300 * NS_PER_S)
#define HOLD_DOWN_LEVELS 6 /* 10, 20, 40, 80, 160, 300 s */
#define HOLD_DOWN_FORGETS_NS (60 * NS_PER_S)

uint64_t hold_down_time_ns(const struct xbond_hold_down *hold)
{
	if (!hold->level)
		return 0;
	if (hold->level >= HOLD_DOWN_LEVELS)
		return HOLD_DOWN_LONGEST_NS;
	return HOLD_DOWN_FIRST_NS << (hold->level - 1);
}

uint64_t hold_down_left_ns(const struct xbond_hold_down *hold, uint64_t now_ns)
{
	uint64_t left_ns = hold->until_ns > now_ns ? hold->until_ns - now_ns : 0;

	return left_ns <= hold_down_time_ns(hold) ? left_ns : 0;
}

/* Quiet time counts from the end of the last hold-down. */
static void hold_down_forget(struct xbond_hold_down *hold, uint64_t now_ns)
{
	uint64_t minutes = (now_ns - hold->until_ns) / HOLD_DOWN_FORGETS_NS;

	if (hold->level > HOLD_DOWN_LEVELS)
		hold->level = HOLD_DOWN_LEVELS;
	hold->level -= minutes < hold->level ? (uint32_t)minutes : hold->level;
}

void hold_down_trip(struct xbond_hold_down *hold, uint64_t now_ns)
{
	if (!hold_down_left_ns(hold, now_ns)) {
		hold_down_forget(hold, now_ns);
		if (hold->level < HOLD_DOWN_LEVELS)
			hold->level++;
		hold->count++;
	}
	hold->until_ns = now_ns + hold_down_time_ns(hold);
}

#define FLAPS_WINDOW_NS (60 * NS_PER_S)

void flaps_add(struct xbond_flaps *flaps, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count && i < XBOND_FLAPS_KEPT; i++)
		flaps->at_ns[flaps->next++ % XBOND_FLAPS_KEPT] = now_ns;
}

static uint32_t flaps_recent(uint32_t count, uint64_t gap_ns)
{
	if (gap_ns <= FLAPS_WINDOW_NS)
		return count;
	return (uint32_t)((uint64_t)count * (FLAPS_WINDOW_NS / NS_PER_S) / (gap_ns / NS_PER_S));
}

/* A count that went down is of a driver that was loaded again. */
void flaps_take(struct xbond_flaps *flaps, uint32_t losses, bool excused, uint64_t now_ns)
{
	uint32_t count = losses - flaps->losses;

	if (flaps->seen_ns && !excused && count <= INT32_MAX && now_ns > flaps->seen_ns)
		flaps_add(flaps, flaps_recent(count, now_ns - flaps->seen_ns), now_ns);
	flaps->losses = losses;
	flaps->seen_ns = now_ns;
}

static uint32_t flaps_since(const struct xbond_flaps *flaps, uint64_t from_ns, uint64_t now_ns)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < XBOND_FLAPS_KEPT; i++)
		count += flaps->at_ns[i] > from_ns && flaps->at_ns[i] <= now_ns;
	return count;
}

static uint64_t flaps_window_start(uint64_t now_ns)
{
	return now_ns > FLAPS_WINDOW_NS ? now_ns - FLAPS_WINDOW_NS : 0;
}

uint32_t flaps_in_minute(const struct xbond_flaps *flaps, uint64_t now_ns)
{
	return flaps_since(flaps, flaps_window_start(now_ns), now_ns);
}

/* What has led to one hold-down does not lead to the next. */
bool flaps_hold(struct xbond_flaps *flaps, uint32_t limit, uint64_t now_ns)
{
	uint64_t from_ns = flaps_window_start(now_ns);

	if (flaps->counted_ns > from_ns)
		from_ns = flaps->counted_ns;
	if (flaps_since(flaps, from_ns, now_ns) > limit) {
		hold_down_trip(&flaps->hold, now_ns);
		flaps->counted_ns = now_ns;
	}
	return hold_down_left_ns(&flaps->hold, now_ns);
}

void silence_take(struct xbond_silence *silence, uint64_t frames, bool carrier, uint64_t now_ns)
{
	if (!silence->heard_ns || silence->heard_ns > now_ns || !carrier ||
	    frames != silence->frames)
		silence->heard_ns = now_ns;
	silence->frames = frames;
}

/* The end of the last hold-down, if it was in this silence. */
static uint64_t silence_began_ns(const struct xbond_silence *silence)
{
	return silence->hold.until_ns > silence->heard_ns ? silence->hold.until_ns
							  : silence->heard_ns;
}

bool silence_hold(struct xbond_silence *silence, uint32_t limit_ms, uint64_t now_ns)
{
	uint64_t limit_ns = limit_ms * NS_PER_MS;

	if (now_ns - silence->heard_ns < limit_ns)
		return false;
	if (hold_down_left_ns(&silence->hold, now_ns))
		return true;
	if (now_ns - silence_began_ns(silence) < limit_ns)
		return false;
	hold_down_trip(&silence->hold, now_ns);
	return true;
}

#define ERROR_RATE_UNIT 1000000u
#define ERROR_RATE_MIN_FRAMES 1000u
#define ERROR_RATE_MIN_ERRORS 5u

uint64_t error_rate_broken(const struct error_counters *counters)
{
	uint64_t named = counters->crc + counters->frame;
	uint64_t harmless = counters->length + counters->over + counters->fifo + counters->missed;
	uint64_t others = counters->errors > harmless ? counters->errors - harmless : 0;

	return named > others ? named : others;
}

static void error_rate_begin_window(struct xbond_errors *errors)
{
	errors->window_frames = errors->window_broken = 0;
}

/* Adds what came since the last call. */
static void error_rate_take(struct xbond_errors *errors, uint64_t good, uint64_t broken)
{
	bool starts = !errors->known || good < errors->good || broken < errors->broken;

	if (!starts) {
		errors->window_frames += good - errors->good + broken - errors->broken;
		errors->window_broken += broken - errors->broken;
	}
	errors->good = good;
	errors->broken = broken;
	errors->known = 1;
}

/* Frames in which the limit allows ERROR_RATE_MIN_ERRORS. */
static uint64_t error_rate_window(uint32_t limit)
{
	uint64_t frames = (uint64_t)ERROR_RATE_MIN_ERRORS * ERROR_RATE_UNIT / (limit ? limit : 1);

	return frames > ERROR_RATE_MIN_FRAMES ? frames : ERROR_RATE_MIN_FRAMES;
}

/* Known before the window is full if the errors would be too many even with no more to come. */
static bool error_rate_is_broken(const struct xbond_errors *errors, uint32_t limit)
{
	uint64_t window = error_rate_window(limit);
	uint64_t frames = errors->window_frames > window ? errors->window_frames : window;

	return (double)errors->window_broken * ERROR_RATE_UNIT > (double)frames * limit;
}

static void error_rate_note(struct xbond_errors *errors)
{
	if (errors->window_frames)
		errors->rate = (uint32_t)((double)errors->window_broken * ERROR_RATE_UNIT /
					  (double)errors->window_frames);
}

bool error_rate_hold(struct xbond_errors *errors, uint64_t good, uint64_t broken, uint32_t limit,
		     uint64_t now_ns)
{
	bool held = hold_down_left_ns(&errors->hold, now_ns);

	if (held && limit > 1)
		limit /= 2;
	error_rate_take(errors, good, broken);
	if (error_rate_is_broken(errors, limit)) {
		error_rate_note(errors);
		error_rate_begin_window(errors);
		hold_down_trip(&errors->hold, now_ns);
	} else if (errors->window_frames >= error_rate_window(limit)) {
		error_rate_note(errors);
		error_rate_begin_window(errors);
	}
	return hold_down_left_ns(&errors->hold, now_ns);
}
