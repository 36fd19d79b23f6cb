/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/base/worker.h"

#define REST_NS (10 * NS_PER_S)

/* The thread that reads. It is asked by the other one, which waits. */

struct metrics_reader {
	const struct paths *paths;
	struct worker worker;
	struct metrics_pins *pins; /* of the thread */
	uint64_t rest_ns; /* of the thread: when it looks which pins nobody uses; 0: none is open */
	bool asked GUARDED_BY(worker_held);
	/* Of who asks, or of the thread while it has been asked. */
	enum metrics_format format;
	char *bytes;
	size_t length;
};

NEEDS(worker_held) static bool metrics_reader_begin(void *context)
{
	struct metrics_reader *reader = context;

	if (!reader->asked)
		reader->rest_ns =
			metrics_pins_close_unused(reader->pins) ? clock_now_ns() + REST_NS : 0;
	return reader->asked;
}

static void metrics_reader_work(void *context)
{
	struct metrics_reader *reader = context;

	reader->bytes = metrics_collect(reader->pins, reader->paths->run_dir, reader->format,
					&reader->length);
}

NEEDS(worker_held) static void metrics_reader_end(void *context)
{
	struct metrics_reader *reader = context;

	reader->asked = false;
}

static uint64_t metrics_reader_next_ns(void *context)
{
	const struct metrics_reader *reader = context;

	return reader->rest_ns;
}

/* Returns 0 or -errno. */
static int metrics_reader_start(struct metrics_reader *reader, const struct paths *paths)
{
	static const struct worker_kind kind = {
		.name = "metrics-reader",
		.begin = metrics_reader_begin,
		.work = metrics_reader_work,
		.end = metrics_reader_end,
		.next_ns = metrics_reader_next_ns,
	};
	int r;

	reader->paths = paths;
	reader->pins = metrics_pins_new(paths->bpf_dir);
	r = worker_start(&reader->worker, &kind, reader);
	if (r)
		metrics_pins_free(reader->pins);
	return r;
}

static void metrics_reader_stop(struct metrics_reader *reader)
{
	worker_stop(&reader->worker);
	metrics_pins_free(reader->pins);
}

char *metrics_reader_read(struct metrics_reader *reader, enum metrics_format format,
			  size_t *ret_length)
{
	struct pollfd ended = { .fd = reader->worker.fd, .events = POLLIN };

	worker_lock(&reader->worker);
	reader->format = format;
	reader->asked = true;
	worker_unlock_and_wake(&reader->worker);
	while (!worker_has_ended_turn(&reader->worker))
		poll(&ended, 1, -1);
	*ret_length = reader->length;
	return reader->bytes;
}

/* The thread that speaks HTTP. */

#define TRY_AGAIN_MS 1000

struct metrics {
	struct metrics_address address;
	gid_t group;
	pthread_t thread;
	struct pulse pulse;
	int stop_fd;
	struct metrics_reader reader;
	/* The rest belongs to the thread that speaks HTTP, while it runs. */
	int listen_fd;		   /* -1: not yet */
	struct metrics_http *http; /* NULL: not yet */
	struct err reported;	   /* why it does not listen; "": that is not in the log */
};

int metrics_check(const char *text, struct err *err)
{
	struct metrics_address address;

	return metrics_listen_parse(text, &address, err);
}

/* Once for each reason. */
static void metrics_report(struct metrics *metrics, const struct err *err)
{
	if (!strcmp(metrics->reported.text, err->text))
		return;
	metrics->reported = *err;
	log_error("metrics: cannot listen on %s: %s; bondd continues without metrics, and tries "
		  "again every second",
		  metrics->address.text, err->text);
}

static bool metrics_try_to_listen(struct metrics *metrics)
{
	struct err err;

	metrics->listen_fd = metrics_listen_open(&metrics->address, metrics->group, &err);
	if (metrics->listen_fd >= 0)
		log_info("metrics: listening on %s", metrics->address.text);
	else
		metrics_report(metrics, &err);
	return metrics->listen_fd >= 0;
}

static void metrics_try_to_answer(struct metrics *metrics)
{
	const struct err err = { "libmicrohttpd does not start" };

	metrics->http = metrics_http_new(&metrics->reader, metrics->listen_fd,
					 metrics_listen_is_unix(&metrics->address));
	if (!metrics->http)
		metrics_report(metrics, &err);
}

/* Whoever finds a hole in what parses HTTP has little of bondd then. */
static void metrics_confine(const struct metrics *metrics)
{
	const int fds[] = { STDERR_FILENO, metrics->stop_fd, metrics->listen_fd,
			    metrics->reader.worker.fd };
	int r = thread_confine(fds, sizeof(fds) / sizeof(fds[0]));

	if (r)
		log_warning("metrics: the thread that speaks HTTP keeps rights that it does not "
			    "need: %s",
			    strerror(-r));
}

/* Returns false when the thread is to end. */
static bool metrics_wait(struct metrics *metrics, int limit_ms)
{
	struct pollfd fds[] = {
		{ .fd = metrics->stop_fd, .events = POLLIN },
		{ .fd = metrics->http ? metrics_http_fd(metrics->http) : -1, .events = POLLIN },
	};

	pulse_owe(&metrics->pulse,
		  limit_ms < 0 ? PULSE_NEVER : clock_now_ns() + (uint64_t)limit_ms * NS_PER_MS);
	poll(fds, sizeof(fds) / sizeof(fds[0]), limit_ms);
	pulse_owe(&metrics->pulse, clock_now_ns());
	return !fds[0].revents;
}

static void *metrics_run(void *arg)
{
	struct metrics *metrics = arg;
	int limit_ms;

	pthread_setname_np(pthread_self(), "metrics");
	while (!metrics_try_to_listen(metrics))
		if (!metrics_wait(metrics, TRY_AGAIN_MS))
			return NULL;
	metrics_confine(metrics);
	do {
		if (!metrics->http)
			metrics_try_to_answer(metrics);
		limit_ms = metrics->http ? metrics_http_turn(metrics->http) : TRY_AGAIN_MS;
	} while (metrics_wait(metrics, limit_ms));
	if (metrics->http)
		metrics_http_free(metrics->http);
	return NULL;
}

static int metrics_start_thread(struct metrics *metrics)
{
	int r;

	pulse_add(&metrics->pulse, "metrics");
	r = thread_start(&metrics->thread, metrics_run, metrics);
	if (r)
		pulse_remove(&metrics->pulse);
	return r;
}

/* Returns 0 or -errno. */
static int metrics_start(struct metrics *metrics, const struct paths *paths)
{
	int r;

	metrics->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (metrics->stop_fd < 0)
		return -errno;
	r = metrics_reader_start(&metrics->reader, paths);
	if (!r) {
		r = metrics_start_thread(metrics);
		if (r)
			metrics_reader_stop(&metrics->reader);
	}
	if (r)
		close(metrics->stop_fd);
	return r;
}

struct metrics *metrics_new(const char *text, const struct paths *paths, gid_t group,
			    struct err *err)
{
	struct metrics *metrics = memory_need(calloc(1, sizeof(*metrics)));
	int r = metrics_listen_parse(text, &metrics->address, err);

	if (!r) {
		metrics->group = group;
		metrics->listen_fd = -1;
		r = metrics_start(metrics, paths);
	}
	if (!r)
		return metrics;
	free(metrics);
	err_set(err, -r, "cannot start the threads of metrics: %s", strerror(-r));
	return NULL;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	loop_signal(metrics->stop_fd);
	pthread_join(metrics->thread, NULL);
	pulse_remove(&metrics->pulse);
	metrics_reader_stop(&metrics->reader);
	if (metrics->listen_fd >= 0)
		metrics_listen_close(&metrics->address, metrics->listen_fd);
	close(metrics->stop_fd);
	free(metrics);
}
