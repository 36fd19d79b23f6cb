/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_answer.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "daemon/metrics/metrics_collect.h"

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
	const char *text; /* NULL: it is made, or it is a file of the page */
} answer_rows[ANSWER_KINDS] = {
	[ANSWER_CLASSIC] = { MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", NULL },
	[ANSWER_OPENMETRICS] = { MHD_HTTP_OK,
				 "application/openmetrics-text; version=1.0.0; charset=utf-8",
				 NULL },
	[ANSWER_JSON] = { MHD_HTTP_OK, "application/json", NULL },
	[ANSWER_PAGE] = { MHD_HTTP_OK, "text/html; charset=utf-8", metrics_page_html },
	[ANSWER_STYLE] = { MHD_HTTP_OK, "text/css; charset=utf-8", metrics_page_style },
	[ANSWER_SCRIPT] = { MHD_HTTP_OK, "text/javascript; charset=utf-8", metrics_page_script },
	[ANSWER_NOT_FOUND] = { MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8",
			       "There is /, /metrics and /bonds.json.\n" },
	[ANSWER_NOT_READ] = { MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8",
			      "Only GET and HEAD: nothing can be changed here.\n" },
	[ANSWER_NOT_FOR_US] = { MHD_HTTP_FORBIDDEN, "text/plain; charset=utf-8",
				"The request names another host. Use the address, localhost, or "
				"the name of this host.\n" },
	[ANSWER_TOO_SLOW] = { MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
			      "Other readers are too slow, and hold too much memory.\n" },
};

struct metrics_answers {
	const char *run_dir;
	struct metrics_pins *pins;
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

static char *metrics_answer_collect(struct metrics_answers *answers, enum answer_kind kind,
				    size_t *ret_length)
{
	if (kind == ANSWER_JSON)
		return metrics_collect_json(answers->pins, answers->run_dir, ret_length);
	return metrics_collect_text(
		answers->pins, answers->run_dir,
		kind == ANSWER_OPENMETRICS ? METRICS_OPENMETRICS : METRICS_CLASSIC, ret_length);
}

static struct MHD_Response *metrics_answer_make(struct metrics_answers *answers,
						enum answer_kind kind)
{
	struct answer_bytes *bytes = memory_need(calloc(1, sizeof(*bytes)));
	struct MHD_Response *response = NULL;

	bytes->answers = answers;
	bytes->bytes = metrics_answer_collect(answers, kind, &bytes->length);
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

struct MHD_Response *metrics_answers_find(struct metrics_answers *answers,
					  const struct metrics_ask *ask, unsigned int *ret_status)
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

bool metrics_answers_rest(struct metrics_answers *answers)
{
	for (unsigned int i = 0; i < ANSWER_KINDS; i++)
		if (!metrics_answer_is_good(answers, i))
			metrics_answer_forget(answers, i);
	return metrics_pins_close_unused(answers->pins);
}

struct metrics_answers *metrics_answers_new(const struct paths *paths)
{
	struct metrics_answers *answers = memory_need(calloc(1, sizeof(*answers)));

	answers->run_dir = paths->run_dir;
	answers->pins = metrics_pins_new(paths->bpf_dir);
	return answers;
}

void metrics_answers_free(struct metrics_answers *answers)
{
	for (unsigned int i = 0; i < ANSWER_KINDS; i++)
		metrics_answer_forget(answers, i);
	metrics_pins_free(answers->pins);
	free(answers);
}
