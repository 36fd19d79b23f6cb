/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/main_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/paths.h"
#include "daemon/base/event.h"

/* How long turns take. */

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
		log_warning("cannot measure the main loop; bondd continues without figures of it: "
			    "%s: %s",
			    run_dir, strerror(errno));
	latency.stat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void latency_stop(const char *run_dir)
{
	loop_remove(latency.figures, run_dir);
	latency.figures = NULL;
	if (latency.stat_fd >= 0)
		close(latency.stat_fd);
}

void latency_keep(const char *run_dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" PATHS_LOOP_NAME, run_dir);
	if (!latency.figures || !access(path, F_OK))
		return;
	latency_stop(run_dir);
	latency_start(run_dir);
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

static void latency_note_slow(struct loop_figures *figures, uint64_t took_ns, uint64_t own_ns)
{
	figures->slow_turns++;
	figures->slow_ended_ns = clock_now_ns();
	figures->slow_ns = took_ns;
	figures->slow_own_ns = own_ns;
	snprintf(figures->slow_work, sizeof(figures->slow_work), "%s", latency.work);
}

void latency_end_turn(void)
{
	struct loop_figures *figures = latency.figures;
	uint64_t took_ns, queued_ns, own_ns;

	if (!figures || !figures->began_ns)
		return;
	took_ns = clock_now_ns() - figures->began_ns;
	queued_ns = latency_queued_ns() - latency.queued_ns;
	own_ns = took_ns > queued_ns ? took_ns - queued_ns : 0;
	figures->began_ns = 0;
	figures->turns++;
	figures->total_ns += took_ns;
	figures->histogram[histogram_class(took_ns)]++;
	if (own_ns > figures->worst_own_ns)
		figures->worst_own_ns = own_ns;
	if (took_ns >= LOOP_SLOW_NS)
		latency_note_slow(figures, took_ns, own_ns);
	if (took_ns <= figures->worst_ns)
		return;
	figures->worst_ns = took_ns;
	snprintf(figures->worst_work, sizeof(figures->worst_work), "%s", latency.work);
}

void latency_note(const char *work)
{
	latency.work = work;
}

/*
 * In the middle of a turn: from here on the loop answers to what must not wait. The rest, from
 * latency_resume() on, is a turn of its own.
 */
static const char *latency_pause(void)
{
	latency_end_turn();
	return latency.work;
}

static void latency_resume(const char *work)
{
	latency_begin_turn();
	latency.work = work;
}

/* Whether all threads live. */

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
	memory_unlist(pulse_state.first, pulse);
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

/* What goes on while it waits. */

#define TURN_MS 10

static const struct idle_work *idle_work;

void idle_set_work(const struct idle_work *work)
{
	idle_work = work;
}

static int idle_left_ms(uint64_t end_ns)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns < end_ns ? (int)((end_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

void idle_turn(void)
{
	const char *work;

	if (!idle_work)
		return;
	work = latency_pause();
	latency_resume("meanwhile");
	idle_work->turn(idle_work->arg);
	latency_pause();
	latency_resume(work);
}

bool idle_wait(int fd, int limit_ms)
{
	uint64_t end_ns = clock_now_ns() + (uint64_t)limit_ms * NS_PER_MS;
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
				{ .fd = idle_work ? idle_work->fd : -1, .events = POLLIN } };
	int left_ms = limit_ms;

	while (left_ms > 0) {
		const char *work = latency_pause();

		poll(fds, 2, idle_work && left_ms > TURN_MS ? TURN_MS : left_ms);
		latency_resume(work);
		if (fds[0].revents)
			return true;
		idle_turn();
		left_ms = idle_left_ms(end_ns);
	}
	return false;
}

struct idle_thread {
	void (*work)(void *arg);
	void *arg;
	int fd;
};

static void *idle_thread_run(void *arg)
{
	struct idle_thread *thread = arg;

	thread->work(thread->arg);
	loop_signal(thread->fd);
	return NULL;
}

void idle_run(void (*work)(void *arg), void *arg)
{
	struct idle_thread thread = { work, arg, eventfd(0, EFD_CLOEXEC) };
	struct pulse pulse;
	pthread_t id;

	pulse_add(&pulse, "request");
	pulse_owe(&pulse, clock_now_ns());
	if (thread.fd >= 0 && !pthread_create(&id, NULL, idle_thread_run, &thread)) {
		while (!idle_wait(thread.fd, INT_MAX))
			;
		pthread_join(id, NULL);
	} else {
		work(arg);
	}
	pulse_remove(&pulse);
	if (thread.fd >= 0)
		close(thread.fd);
}

/* What it listens to. */

void loop_signal(int fd)
{
	uint64_t one = 1;
	ssize_t written = write(fd, &one, sizeof(one));

	(void)written; /* a full counter is also readable */
}

bool loop_take_signal(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) > 0;
}

int loop_epoll_add(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int loop_watch_at(sd_event *event, int fd, sd_event_io_handler_t handler, void *arg,
			 int64_t priority)
{
	sd_event_source *io = NULL;
	int r = sd_event_add_io(event, &io, fd, EPOLLIN, handler, arg);

	if (r < 0)
		return r;
	sd_event_source_set_priority(io, priority);
	sd_event_source_set_floating(io, true);
	sd_event_source_unref(io);
	return 0;
}

int loop_watch(sd_event *event, int fd, sd_event_io_handler_t handler, void *arg)
{
	return loop_watch_at(event, fd, handler, arg, SD_EVENT_PRIORITY_NORMAL);
}

int loop_watch_first(sd_event *event, int fd, sd_event_io_handler_t handler, void *arg)
{
	return loop_watch_at(event, fd, handler, arg, SD_EVENT_PRIORITY_IMPORTANT);
}

int loop_timer(sd_event *event, uint64_t accuracy_us, sd_event_time_handler_t handler, void *arg,
	       sd_event_source **ret_timer)
{
	int r = sd_event_add_time(event, ret_timer, CLOCK_MONOTONIC, UINT64_MAX, accuracy_us,
				  handler, arg);

	if (r >= 0)
		r = sd_event_source_set_enabled(*ret_timer, SD_EVENT_ON);
	return r < 0 ? r : 0;
}

void loop_timer_at(sd_event_source *timer, uint64_t ns)
{
	if (!timer)
		return;
	sd_event_source_set_time(timer, ns == UINT64_MAX ? UINT64_MAX : ns / 1000 + 1);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

void loop_timer_after(sd_event_source *timer, uint64_t us)
{
	sd_event_source_set_time_relative(timer, us);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

int loop_defer(sd_event *event, sd_event_handler_t handler, void *arg, sd_event_source **ret_work)
{
	int r = sd_event_add_defer(event, ret_work, handler, arg);

	if (r >= 0)
		r = sd_event_source_set_enabled(*ret_work, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}
