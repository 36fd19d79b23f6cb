/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of the main loop: how long its turns take, what goes on while it waits, and whether all
 * threads live.
 */
#ifndef XBOND_DAEMON_BASE_MAIN_LOOP_H
#define XBOND_DAEMON_BASE_MAIN_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "common/readings.h"

/*
 * Measures how long each turn of the main loop takes. During a turn the loop can answer to nothing
 * else. bondd.c says when a turn begins and ends; the code that does the work says what it is.
 */

/* How long one piece of work may go on that can be continued later. */
#define LATENCY_SLICE_NS 2000000ull

/*
 * Call it once. If the file of the figures cannot be made, nothing is measured, and everything else
 * works.
 */
void latency_start(const char *run_dir);
void latency_stop(const char *run_dir);
/* Begins anew if somebody has removed the file. */
void latency_keep(const char *run_dir);
/* NULL if nothing is measured. */
const struct loop_figures *latency_figures(void);

void latency_begin_turn(void);
void latency_end_turn(void);
/* Says what this turn is for, in a word of at most 15 characters. */
void latency_note(const char *work);

/*
 * Tells the service manager that bondd lives, as long as all its threads do (WatchdogSec= of
 * systemd). Does nothing if the service manager does not ask for it. Threads are in worker.c,
 * daemon/metrics/ and here.
 */

#define PULSE_NEVER UINT64_MAX

struct pulse {
	struct pulse *next;
	const char *name; /* of the thread */
	uint64_t due_ns;  /* as clock_now_ns() */
};

/* Reads what the service manager asks for. */
void pulse_init(void);

/* Both by the main loop. A new thread owes nothing. */
void pulse_add(struct pulse *pulse, const char *name);
void pulse_remove(struct pulse *pulse);

/*
 * By the thread: from then on it owes another call. When it begins something, that is now. When it
 * rests, it is the time at which it will go on, or PULSE_NEVER.
 */
void pulse_owe(struct pulse *pulse, uint64_t due_ns);
/* By whoever wakes it, never at the same time as pulse_owe(): it owes a call from now on. */
void pulse_wake(struct pulse *pulse);

/* The main loop does this several times a second. */
void pulse_beat(void);

/*
 * Waits for something that takes long. Meanwhile, work that must not wait that long has its turn.
 * Knows neither; bondd.c says what is done.
 */

struct idle_work {
	int fd; /* work to do at once when readable, and otherwise from time to time */
	void (*turn)(void *arg);
	void *arg;
};

/* NULL: nothing is done meanwhile. The struct is not copied. */
void idle_set_work(const struct idle_work *work);

/* Waits until fd is readable. Returns false if it was not within limit_ms. */
bool idle_wait(int fd, int limit_ms);
/*
 * Waits until a thread has done the work. The work must touch nothing that belongs to the main
 * loop.
 */
void idle_run(void (*work)(void *arg), void *arg);
/*
 * Call it between two steps of long work, when bonds are in a state in which bond_evaluate() may
 * find them.
 */
void idle_turn(void);

/* What the main loop listens to, until it ends. 0 or -errno. */

/* Makes an eventfd readable, from any thread. */
void loop_signal(int fd);
/* Makes it unreadable. False: it was so. */
bool loop_take_signal(int fd);
/* From then on the epoll is readable for these events of fd. */
int loop_epoll_add(int epoll_fd, int fd, uint32_t events);
/* Calls the handler whenever fd is readable. */
int loop_watch(sd_event *event, int fd, sd_event_io_handler_t handler, void *arg);
/* The same, before what is not urgent. */
int loop_watch_first(sd_event *event, int fd, sd_event_io_handler_t handler, void *arg);
/* A timer that is on, and has no time yet. */
int loop_timer(sd_event *event, uint64_t accuracy_us, sd_event_time_handler_t handler, void *arg,
	       sd_event_source **ret_timer);
/* It ends then, once: UINT64_MAX is never. timer may be NULL. */
void loop_timer_at(sd_event_source *timer, uint64_t ns);
/* So long after the turn has begun. */
void loop_timer_after(sd_event_source *timer, uint64_t us);
/* Work for the end of a turn; it is off. */
int loop_defer(sd_event *event, sd_event_handler_t handler, void *arg, sd_event_source **ret_work);

#endif
