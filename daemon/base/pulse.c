/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/pulse.h"

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-daemon.h>

#include "common/clock.h"
#include "daemon/base/log.h"

#define BEATS_PER_LIMIT 4

static struct {
	struct pulse *first;
	uint64_t limit_ns; /* 0: nobody asks */
	uint64_t next_ns;  /* when the service manager is to be told again */
	const struct pulse *suspect;
	bool has_given_up;
} pulse_state;

void pulse_init(void)
{
	uint64_t limit_us;

	if (sd_watchdog_enabled(0, &limit_us) > 0)
		pulse_state.limit_ns = limit_us * 1000;
}

void pulse_add(struct pulse *pulse, const char *name)
{
	*pulse = (struct pulse){ pulse_state.first, name, PULSE_NEVER };
	pulse_state.first = pulse;
}

void pulse_remove(struct pulse *pulse)
{
	struct pulse **at = &pulse_state.first;

	while (*at && *at != pulse)
		at = &(*at)->next;
	if (*at)
		*at = pulse->next;
	if (pulse_state.suspect == pulse)
		pulse_state.suspect = NULL;
}

void pulse_owe(struct pulse *pulse, uint64_t due_ns)
{
	__atomic_store_n(&pulse->due_ns, due_ns, __ATOMIC_RELAXED);
}

void pulse_wake(struct pulse *pulse)
{
	uint64_t now_ns = clock_now_ns();

	if (__atomic_load_n(&pulse->due_ns, __ATOMIC_RELAXED) > now_ns)
		pulse_owe(pulse, now_ns);
}

static const struct pulse *pulse_find_late(uint64_t now_ns)
{
	for (const struct pulse *pulse = pulse_state.first; pulse; pulse = pulse->next) {
		uint64_t due_ns = __atomic_load_n(&pulse->due_ns, __ATOMIC_RELAXED);

		if (due_ns < now_ns && now_ns - due_ns > pulse_state.limit_ns)
			return pulse;
	}
	return NULL;
}

/* Older service managers do not know "trigger". They act when nothing has been told for long. */
static void pulse_give_up(const struct pulse *late)
{
	log_error("the thread '%s' has hung for more than %llu s; the service manager is asked to "
		  "restart bondd; the bonds continue",
		  late->name, (unsigned long long)(pulse_state.limit_ns / NS_PER_S));
	pulse_state.has_given_up = true;
	sd_notify(0, "WATCHDOG=trigger");
}

/*
 * A thread must be late twice. When the whole machine has stood still, it may be late once, because
 * the main loop was quicker.
 */
void pulse_beat(void)
{
	uint64_t now_ns = clock_now_ns();
	const struct pulse *late;

	if (!pulse_state.limit_ns || pulse_state.has_given_up || now_ns < pulse_state.next_ns)
		return;
	pulse_state.next_ns = now_ns + pulse_state.limit_ns / BEATS_PER_LIMIT;
	late = pulse_find_late(now_ns);
	if (late && late == pulse_state.suspect)
		pulse_give_up(late);
	else if (!late)
		sd_notify(0, "WATCHDOG=1");
	pulse_state.suspect = late;
}
