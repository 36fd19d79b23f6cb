/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_http.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "daemon/metrics/metrics_answer.h"
#include "daemon/metrics/metrics_request.h"

#define MAX_VISITS 32		 /* connections; others wait in the kernel's queue */
#define MAX_OF_ONE 16		 /* of one address */
#define REQUEST_ROOM (16 * 1024) /* of a connection: its request and the answer's headers */
#define VISIT_NS (10 * NS_PER_S) /* a connection, which is for one request */
#define VISIT_WHEN_FULL_NS (500 * NS_PER_MS) /* the same while others may be waiting */
#define SWEEP_MS 250
#define SWEEP_WHEN_FULL_MS 20
#define REST_MS 10000
#define REST_NS (REST_MS * NS_PER_MS)
#define HOSTNAME_SIZE 256

struct metrics_visit {
	int fd; /* -1: nobody is there */
	uint64_t since_ns;
};

struct metrics_http {
	struct MHD_Daemon *daemon;
	struct metrics_answers *answers;
	struct metrics_visit visits[MAX_VISITS];
	uint64_t rested_ns;
	bool any_host;
};

static void metrics_http_enter(struct metrics_http *http, struct MHD_Connection *connection,
			       void **ret_visit)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (unsigned int i = 0; info && i < MAX_VISITS; i++) {
		if (http->visits[i].fd >= 0)
			continue;
		http->visits[i] = (struct metrics_visit){ info->connect_fd, clock_now_ns() };
		*ret_visit = &http->visits[i];
		return;
	}
}

static void metrics_http_on_connection(void *context, struct MHD_Connection *connection,
				       void **visit, enum MHD_ConnectionNotificationCode what)
{
	struct metrics_visit *left = *visit;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		metrics_http_enter(context, connection, visit);
	else if (left)
		left->fd = -1;
}

static bool metrics_http_is_for_us(const struct metrics_http *http,
				   struct MHD_Connection *connection)
{
	char hostname[HOSTNAME_SIZE] = "";

	if (http->any_host)
		return true;
	gethostname(hostname, sizeof(hostname) - 1);
	return metrics_request_is_for_us(
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
		hostname);
}

/*
 * The answer is given before a body is read, and nobody's body is. Therefore libmicrohttpd closes
 * the connection behind it.
 */
static enum MHD_Result metrics_http_on_request(void *context, struct MHD_Connection *connection,
					       const char *path, const char *method,
					       const char *version, const char *body,
					       size_t *body_size, void **request)
{
	struct metrics_http *http = context;
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct metrics_ask ask = {
		.path = path,
		.format = metrics_request_format(accept),
		.may_read = !strcmp(method, MHD_HTTP_METHOD_GET) ||
			    !strcmp(method, MHD_HTTP_METHOD_HEAD),
		.is_for_us = metrics_http_is_for_us(http, connection),
	};
	struct MHD_Response *response;
	unsigned int status;

	(void)version;
	(void)body;
	(void)body_size;
	(void)request;
	response = metrics_answers_find(http->answers, &ask, &status);
	return response ? MHD_queue_response(connection, status, response) : MHD_NO;
}

struct metrics_http *metrics_http_new(const struct paths *paths, int listen_fd, bool any_host)
{
	struct metrics_http *http = memory_need(calloc(1, sizeof(*http)));

	for (unsigned int i = 0; i < MAX_VISITS; i++)
		http->visits[i].fd = -1;
	http->any_host = any_host;
	http->answers = metrics_answers_new(paths);
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, metrics_http_on_request, http,
		MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)MAX_VISITS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned int)MAX_OF_ONE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_ROOM,
		MHD_OPTION_NOTIFY_CONNECTION, metrics_http_on_connection, http, MHD_OPTION_END);
	if (http->daemon)
		return http;
	metrics_http_free(http);
	return NULL;
}

void metrics_http_free(struct metrics_http *http)
{
	if (http->daemon) {
		MHD_quiesce_daemon(http->daemon); /* it would close the listening socket */
		MHD_stop_daemon(http->daemon);
	}
	metrics_answers_free(http->answers);
	free(http);
}

int metrics_http_fd(const struct metrics_http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

static unsigned int metrics_http_visits(const struct metrics_http *http)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < MAX_VISITS; i++)
		count += http->visits[i].fd >= 0;
	return count;
}

/* libmicrohttpd finds that they have ended. */
static void metrics_http_end_long_visits(struct metrics_http *http)
{
	uint64_t now_ns = clock_now_ns(), limit_ns;

	limit_ns = metrics_http_visits(http) < MAX_VISITS ? VISIT_NS : VISIT_WHEN_FULL_NS;
	for (unsigned int i = 0; i < MAX_VISITS; i++)
		if (http->visits[i].fd >= 0 && now_ns - http->visits[i].since_ns > limit_ns)
			shutdown(http->visits[i].fd, SHUT_RDWR);
}

/*
 * Closes what nobody has asked for lately, now and then even if somebody is always there. Returns
 * whether something waits for the next time.
 */
static bool metrics_http_rest(struct metrics_http *http)
{
	uint64_t now_ns = clock_now_ns();

	if (metrics_http_visits(http) && now_ns - http->rested_ns < REST_NS)
		return true;
	http->rested_ns = now_ns;
	return metrics_answers_rest(http->answers);
}

/*
 * libmicrohttpd listens again, after it was full, only in the run after the one in which a
 * connection has ended.
 */
int metrics_http_turn(struct metrics_http *http)
{
	unsigned int before = metrics_http_visits(http);
	MHD_UNSIGNED_LONG_LONG timeout_ms;
	bool pins_wait;

	MHD_run(http->daemon);
	metrics_http_end_long_visits(http);
	pins_wait = metrics_http_rest(http);
	if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES && timeout_ms < SWEEP_MS)
		return (int)timeout_ms;
	if (before || metrics_http_visits(http))
		return before < MAX_VISITS ? SWEEP_MS : SWEEP_WHEN_FULL_MS;
	return pins_wait ? REST_MS : -1;
}
