/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor/events_in.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/base/client.h"

void events_in_init(struct events_in *in, const char *run_dir, bool from_oldest)
{
	in->run_dir = run_dir;
	in->fd = -1;
	in->from_oldest = from_oldest;
	in->run[0] = '\0';
	in->next = 0;
	in->used = 0;
}

void events_in_close(struct events_in *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	in->used = 0;
}

/* After the first time it goes on where it was, or with all that a new bondd has. */
static json_t *events_in_request(const struct events_in *in)
{
	if (in->run[0])
		return json_pack("{s:s, s:s, s:I}", "method", "monitor", "bondd", in->run, "from",
				 (json_int_t)in->next);
	if (in->from_oldest)
		return json_pack("{s:s, s:i}", "method", "monitor", "from", 0);
	return json_pack("{s:s}", "method", "monitor");
}

int events_in_read(struct events_in *in)
{
	ssize_t got =
		recv(in->fd, in->buffer + in->used, sizeof(in->buffer) - in->used, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -ECONNRESET;
	in->used += (size_t)got;
	return 0;
}

/* NULL if there is no whole line. A line that is not JSON, or too long, ends the connection. */
static json_t *events_in_take_line(struct events_in *in, int *ret_r)
{
	char *end = memchr(in->buffer, '\n', in->used);
	json_t *json;

	*ret_r = !end && in->used == sizeof(in->buffer) ? -ECONNRESET : 0;
	if (!end)
		return NULL;
	json = json_loadb(in->buffer, (size_t)(end - in->buffer), 0, NULL);
	in->used -= (size_t)(end + 1 - in->buffer);
	memmove(in->buffer, end + 1, in->used);
	if (json_is_object(json))
		return json;
	json_decref(json);
	*ret_r = -ECONNRESET;
	return NULL;
}

static int events_in_take_answer(struct events_in *in, const json_t *answer, struct err *err)
{
	const json_t *result = json_object_get(answer, "result");
	const char *error = json_string_value(json_object_get(answer, "error"));
	const char *run = json_string_value(json_object_get(result, "bondd"));

	if (!json_is_true(json_object_get(answer, "ok")))
		return err_set(err, EREMOTEIO, "%s", error ? error : "bondd refused");
	if (!run)
		return err_set(err, EREMOTEIO, "bondd's answer is malformed");
	snprintf(in->run, sizeof(in->run), "%s", run);
	in->next = (uint64_t)json_integer_value(json_object_get(result, "from"));
	in->head = (uint64_t)json_integer_value(json_object_get(result, "next"));
	return 0;
}

static int events_in_await_answer(struct events_in *in, struct err *err)
{
	json_t *answer = NULL;
	int r = 0;

	while (!r && !answer) {
		struct pollfd wait = { .fd = in->fd, .events = POLLIN };

		if (poll(&wait, 1, CLIENT_WAIT_SHORT_S * 1000) <= 0)
			return err_set(err, ECONNRESET, "bondd does not answer");
		r = events_in_read(in);
		if (!r)
			answer = events_in_take_line(in, &r);
	}
	if (r)
		err_set(err, -r, "bondd was lost before it answered");
	else
		r = events_in_take_answer(in, answer, err);
	json_decref(answer);
	return r;
}

int events_in_open(struct events_in *in, struct err *err)
{
	json_t *request = events_in_request(in);
	int r = client_open(in->run_dir, request, err);

	json_decref(request);
	if (r < 0)
		return r;
	in->fd = r;
	r = events_in_await_answer(in, err);
	if (r)
		events_in_close(in);
	return r;
}

void events_in_go_on(struct events_in *in, const char *run, uint64_t next)
{
	snprintf(in->run, sizeof(in->run), "%s", run);
	in->next = next;
}

json_t *events_in_take(struct events_in *in, int *ret_r)
{
	json_t *json = events_in_take_line(in, ret_r);
	const json_t *seq = json_object_get(json, "seq");

	if (json_is_integer(seq))
		in->next = (uint64_t)json_integer_value(seq) + 1;
	return json;
}
