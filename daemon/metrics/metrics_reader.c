/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "daemon/metrics/metrics.h"

#define REST_NS (10 * NS_PER_S)

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

struct metrics_reader *metrics_reader_new(const struct paths *paths)
{
	static const struct worker_kind kind = {
		.name = "metrics-reader",
		.begin = metrics_reader_begin,
		.work = metrics_reader_work,
		.end = metrics_reader_end,
		.next_ns = metrics_reader_next_ns,
	};
	struct metrics_reader *reader = memory_need(calloc(1, sizeof(*reader)));
	int r;

	reader->paths = paths;
	reader->pins = metrics_pins_new(paths->bpf_dir);
	r = worker_start(&reader->worker, &kind, reader);
	if (!r)
		return reader;
	metrics_pins_free(reader->pins);
	free(reader);
	errno = -r;
	return NULL;
}

void metrics_reader_free(struct metrics_reader *reader)
{
	worker_stop(&reader->worker);
	metrics_pins_free(reader->pins);
	free(reader);
}

int metrics_reader_fd(const struct metrics_reader *reader)
{
	return worker_fd(&reader->worker);
}

char *metrics_reader_read(struct metrics_reader *reader, enum metrics_format format,
			  size_t *ret_length)
{
	struct pollfd ended = { .fd = worker_fd(&reader->worker), .events = POLLIN };

	worker_lock(&reader->worker);
	reader->format = format;
	reader->asked = true;
	worker_unlock_and_wake(&reader->worker);
	while (!worker_has_ended_turn(&reader->worker))
		poll(&ended, 1, -1);
	*ret_length = reader->length;
	return reader->bytes;
}
