/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/error_rate.h"

#include "rules/hold_down.h"

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
