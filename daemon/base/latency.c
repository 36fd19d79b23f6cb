/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/latency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/log.h"

static struct {
	struct loop_figures *figures;
	const char *work;
	/* The scheduler's figures of the loop's own thread; -1: there are none. */
	int stat_fd;
	uint64_t queued_ns; /* the time it had waited for a CPU when the turn began */
} latency = { .stat_fd = -1 };

/* The second number, which only grows. */
static uint64_t latency_queued_ns(void)
{
	unsigned long long queued_ns = 0;
	char text[96];
	ssize_t got;

	got = latency.stat_fd < 0 ? -1 : pread(latency.stat_fd, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	return sscanf(text, "%*u %llu", &queued_ns) == 1 ? queued_ns : 0;
}

void latency_start(const char *run_dir)
{
	latency.figures = loop_create(run_dir);
	if (!latency.figures)
		log_warning("cannot measure the main loop, and goes on without: %s: %s", run_dir,
			    strerror(errno));
	latency.stat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void latency_stop(const char *run_dir)
{
	loop_remove(latency.figures, run_dir);
	latency.figures = NULL;
	if (latency.stat_fd >= 0)
		close(latency.stat_fd);
}

const struct loop_figures *latency_figures(void)
{
	return latency.figures;
}

void latency_begin_turn(void)
{
	if (!latency.figures)
		return;
	latency.work = "other";
	latency.queued_ns = latency_queued_ns();
	latency.figures->began_ns = clock_now_ns();
}

static unsigned int latency_bucket(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned int bucket = us ? 64 - (unsigned int)__builtin_clzll(us) : 0;

	return bucket < LOOP_BUCKETS ? bucket : LOOP_BUCKETS - 1;
}

void latency_end_turn(void)
{
	struct loop_figures *figures = latency.figures;
	uint64_t took_ns, queued_ns;

	if (!figures || !figures->began_ns)
		return;
	took_ns = clock_now_ns() - figures->began_ns;
	queued_ns = latency_queued_ns() - latency.queued_ns;
	figures->began_ns = 0;
	figures->turns++;
	figures->total_ns += took_ns;
	figures->histogram[latency_bucket(took_ns)]++;
	if (took_ns > queued_ns && took_ns - queued_ns > figures->worst_own_ns)
		figures->worst_own_ns = took_ns - queued_ns;
	if (took_ns <= figures->worst_ns)
		return;
	figures->worst_ns = took_ns;
	snprintf(figures->worst_work, sizeof(figures->worst_work), "%s", latency.work);
}

void latency_note(const char *work)
{
	latency.work = work;
}

const char *latency_pause(void)
{
	latency_end_turn();
	return latency.work;
}

void latency_resume(const char *work)
{
	latency_begin_turn();
	latency.work = work;
}
