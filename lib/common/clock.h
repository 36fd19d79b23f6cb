/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks that xbond compares times of, and pauses between tries. */
#ifndef XBOND_COMMON_CLOCK_H
#define XBOND_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull
#define US_PER_S 1000000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The clock of bpf_ktime_get_ns() in the programs. */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Also runs while the machine sleeps. */
static inline uint64_t clock_boot_us(void)
{
	return clock_ns(CLOCK_BOOTTIME) / 1000;
}

static inline uint64_t clock_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static inline uint64_t clock_unix_us(void)
{
	return clock_unix_ns() / 1000;
}

#define RETRY_MIN_NS NS_PER_S
#define RETRY_MAX_NS (60 * NS_PER_S)

/* What has failed is tried again, after pauses that grow. All zero: it has not failed. */
struct retry {
	uint64_t next_ns, pause_ns;
};

static inline void retry_later(struct retry *retry)
{
	retry->pause_ns = !retry->pause_ns		       ? RETRY_MIN_NS
			  : retry->pause_ns < RETRY_MAX_NS / 2 ? 2 * retry->pause_ns
							       : RETRY_MAX_NS;
	retry->next_ns = clock_now_ns() + retry->pause_ns;
}

#endif
