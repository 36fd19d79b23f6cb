/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer to each request: a table of paths. What is made from the bonds is kept for a moment,
 * so many readers cost as much as one. Then the connections.
 */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "daemon/metrics/metrics.h"

#define FRESH_NS (200 * NS_PER_MS)	    /* how long an answer is good for other readers */
#define MAX_HELD ((size_t)32 * 1024 * 1024) /* bytes in memory because readers are slow */
#define METRICS_PAGE_FILE(symbol, file)                      \
	__asm__(".pushsection .rodata\n"                     \
		".global " #symbol "\n" #symbol ":\n"        \
		".incbin \"daemon/metrics/page/" file "\"\n" \
		".byte 0\n"                                  \
		".popsection\n")

extern const char metrics_page_html[], metrics_page_style[], metrics_page_script[];

/* The assembler takes the files into the program. The Makefile knows that it does. */

METRICS_PAGE_FILE(metrics_page_html, "page.html");
METRICS_PAGE_FILE(metrics_page_style, "page.css");
METRICS_PAGE_FILE(metrics_page_script, "page.js");

/* The page may use its own script and style, and ask this server; nothing else. */
#define POLICY                                                                          \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

enum answer_kind {
	ANSWER_CLASSIC,
	ANSWER_OPENMETRICS,
	ANSWER_JSON,
	ANSWER_PAGE,
	ANSWER_STYLE,
	ANSWER_SCRIPT,
	ANSWER_NOT_FOUND,
	ANSWER_NOT_READ,
	ANSWER_NOT_FOR_US,
	ANSWER_TOO_SLOW,
	ANSWER_KINDS,
};

static const struct answer_row {
	unsigned int status;
	const char *type;
	const char *text; /* NULL: it is made, in this form */
	enum metrics_format format;
} answer_rows[ANSWER_KINDS] = {
	[ANSWER_CLASSIC] = { MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
			     .format = METRICS_CLASSIC },
	[ANSWER_OPENMETRICS] = { MHD_HTTP_OK,
				 "application/openmetrics-text; version=1.0.0; charset=utf-8",
				 .format = METRICS_OPENMETRICS },
	[ANSWER_JSON] = { MHD_HTTP_OK, "application/json", .format = METRICS_JSON },
	[ANSWER_PAGE] = { MHD_HTTP_OK, "text/html; charset=utf-8", .text = metrics_page_html },
	[ANSWER_STYLE] = { MHD_HTTP_OK, "text/css; charset=utf-8", .text = metrics_page_style },
	[ANSWER_SCRIPT] = { MHD_HTTP_OK, "text/javascript; charset=utf-8",
			    .text = metrics_page_script },
	[ANSWER_NOT_FOUND] = { MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8",
			       .text = "There is /, /metrics and /bonds.json.\n" },
	[ANSWER_NOT_READ] = { MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8",
			      .text = "Only GET and HEAD: nothing can be changed here.\n" },
	[ANSWER_NOT_FOR_US] = { MHD_HTTP_FORBIDDEN, "text/plain; charset=utf-8",
				.text = "The request names another host. Use the address, "
					"localhost, or the name of this host.\n" },
	[ANSWER_TOO_SLOW] = { MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
			      .text = "Other readers are too slow, and hold too much memory.\n" },
};

struct metrics_ask {
	const char *path;
	enum metrics_format format;
	bool may_read;	/* by its method */
	bool is_for_us; /* by its header Host */
};

struct metrics_answers {
	struct metrics_reader *reader;
	size_t held; /* bytes of answers that were made and are not freed */
	struct {
		struct MHD_Response *response; /* NULL: none yet */
		uint64_t made_ns;
	} kind[ANSWER_KINDS];
};

/* The memory of an answer, until its last reader has it. */
struct answer_bytes {
	struct metrics_answers *answers;
	char *bytes;
	size_t length;
};

static void metrics_answer_free_bytes(void *context)
{
	struct answer_bytes *bytes = context;

	bytes->answers->held -= bytes->length;
	free(bytes->bytes);
	free(bytes);
}

static struct MHD_Response *metrics_answer_make(struct metrics_answers *answers,
						enum answer_kind kind)
{
	struct answer_bytes *bytes = memory_need(calloc(1, sizeof(*bytes)));
	struct MHD_Response *response = NULL;

	bytes->answers = answers;
	bytes->bytes =
		metrics_reader_read(answers->reader, answer_rows[kind].format, &bytes->length);
	if (bytes->bytes)
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			bytes->length, bytes->bytes, metrics_answer_free_bytes, bytes);
	answers->held += bytes->length;
	if (!response)
		metrics_answer_free_bytes(bytes);
	return response;
}

static struct MHD_Response *metrics_answer_of_text(const char *text)
{
	return MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
					       MHD_RESPMEM_PERSISTENT);
}

static void metrics_answer_add_headers(struct MHD_Response *response, enum answer_kind kind)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer_rows[kind].type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Content-Security-Policy", POLICY);
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	if (kind == ANSWER_NOT_READ)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

static bool metrics_answer_is_good(const struct metrics_answers *answers, enum answer_kind kind)
{
	return answers->kind[kind].response &&
	       (answer_rows[kind].text || clock_now_ns() - answers->kind[kind].made_ns < FRESH_NS);
}

/* Readers that are not ready yet keep it. */
static void metrics_answer_forget(struct metrics_answers *answers, enum answer_kind kind)
{
	if (answers->kind[kind].response)
		MHD_destroy_response(answers->kind[kind].response);
	answers->kind[kind].response = NULL;
}

static void metrics_answer_renew(struct metrics_answers *answers, enum answer_kind kind)
{
	const char *text = answer_rows[kind].text;

	metrics_answer_forget(answers, kind);
	answers->kind[kind].response =
		text ? metrics_answer_of_text(text) : metrics_answer_make(answers, kind);
	answers->kind[kind].made_ns = clock_now_ns();
	if (answers->kind[kind].response)
		metrics_answer_add_headers(answers->kind[kind].response, kind);
}

/* /metrics is answered whatever host the request names: scrapers reach it by many names. */
static enum answer_kind metrics_answer_kind(const struct metrics_ask *ask)
{
	static const struct {
		const char *path;
		enum answer_kind kind;
	} paths[] = {
		{ "/", ANSWER_PAGE },
		{ "/page.css", ANSWER_STYLE },
		{ "/page.js", ANSWER_SCRIPT },
		{ "/bonds.json", ANSWER_JSON },
	};

	if (!ask->may_read)
		return ANSWER_NOT_READ;
	if (!strcmp(ask->path, "/metrics"))
		return ask->format == METRICS_OPENMETRICS ? ANSWER_OPENMETRICS : ANSWER_CLASSIC;
	if (!ask->is_for_us)
		return ANSWER_NOT_FOR_US;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(ask->path, paths[i].path))
			return paths[i].kind;
	return ANSWER_NOT_FOUND;
}

static struct MHD_Response *metrics_answers_find(struct metrics_answers *answers,
						 const struct metrics_ask *ask,
						 unsigned int *ret_status)
{
	enum answer_kind kind = metrics_answer_kind(ask);

	if (!answer_rows[kind].text && !metrics_answer_is_good(answers, kind) &&
	    answers->held > MAX_HELD)
		kind = ANSWER_TOO_SLOW;
	if (!metrics_answer_is_good(answers, kind))
		metrics_answer_renew(answers, kind);
	*ret_status = answer_rows[kind].status;
	return answers->kind[kind].response;
}

/* Forgets those that are old. Returns whether there are others, which will be. */
static bool metrics_answers_rest(struct metrics_answers *answers)
{
	bool are_kept = false;

	for (unsigned int i = 0; i < ANSWER_KINDS; i++) {
		if (!metrics_answer_is_good(answers, i))
			metrics_answer_forget(answers, i);
		else if (!answer_rows[i].text)
			are_kept = true;
	}
	return are_kept;
}

static struct metrics_answers *metrics_answers_new(struct metrics_reader *reader)
{
	struct metrics_answers *answers = memory_need(calloc(1, sizeof(*answers)));

	answers->reader = reader;
	return answers;
}

static void metrics_answers_free(struct metrics_answers *answers)
{
	for (unsigned int i = 0; i < ANSWER_KINDS; i++)
		metrics_answer_forget(answers, i);
	free(answers);
}

/* Connections */

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

	response = metrics_answers_find(http->answers, &ask, &status);
	return response ? MHD_queue_response(connection, status, response) : MHD_NO;
}

struct metrics_http *metrics_http_new(struct metrics_reader *reader, int listen_fd, bool any_host)
{
	struct metrics_http *http = memory_need(calloc(1, sizeof(*http)));

	for (unsigned int i = 0; i < MAX_VISITS; i++)
		http->visits[i].fd = -1;
	http->any_host = any_host;
	http->answers = metrics_answers_new(reader);
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

/* Now and then even if somebody is always there. Returns whether something waits for it. */
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
	bool answers_wait;

	MHD_run(http->daemon);
	metrics_http_end_long_visits(http);
	answers_wait = metrics_http_rest(http);
	if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES && timeout_ms < SWEEP_MS)
		return (int)timeout_ms;
	if (before || metrics_http_visits(http))
		return before < MAX_VISITS ? SWEEP_MS : SWEEP_WHEN_FULL_MS;
	return answers_wait ? REST_MS : -1;
}
