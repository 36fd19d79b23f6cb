/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `bondd --metrics`: metrics and a page about the bonds, over HTTP, by two threads. One speaks HTTP
 * and may do nothing else (thread_confine()). It asks the other, which reads pinned maps as bondctl
 * does. Neither knows anything of the main loop, which neither waits for them nor is asked by them.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_H
#define XBOND_DAEMON_METRICS_METRICS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "common/err.h"
#include "common/paths.h"
#include "view/view_field.h"

struct metrics;

enum metrics_format { METRICS_CLASSIC, METRICS_OPENMETRICS, METRICS_JSON };

/* -EINVAL: text is no address. */
int metrics_check(const char *text, struct err *err);
/*
 * Starts the threads. If the address is taken, the log says so, and the thread tries again until it
 * is free. text and paths stay in use. Members of the group may use a Unix socket; (gid_t)-1: there
 * is none. NULL, with a line in err, if there are no threads.
 */
struct metrics *metrics_new(const char *text, const struct paths *paths, gid_t group,
			    struct err *err);
/* NULL: nothing. Waits for an answer that is being made. */
void metrics_free(struct metrics *metrics);

/* What the files of daemon/metrics/ have of each other. For them and their tests. */

/* metrics_listen.c: where metrics are asked for: ADDR:PORT or unix:PATH, as a user writes it. */

struct metrics_address {
	const char *text; /* as the user wrote it */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} socket;
	socklen_t length;
};

/* text stays in use. -EINVAL: it is none, and err says what one looks like. */
int metrics_listen_parse(const char *text, struct metrics_address *ret_address, struct err *err);

static inline bool metrics_listen_is_unix(const struct metrics_address *address)
{
	return address->socket.any.sa_family == AF_UNIX;
}

/*
 * A socket that listens, or -errno. The socket of a bondd that was killed is replaced; one that
 * somebody answers on is not, and neither is any other file. Members of the group may connect to
 * it; (gid_t)-1: root only.
 */
int metrics_listen_open(const struct metrics_address *address, gid_t group, struct err *err);
/* Closes it. The file of a Unix socket goes, too. */
void metrics_listen_close(const struct metrics_address *address, int fd);

/* metrics.c: the thread that makes answers from the bonds, for the one that speaks HTTP. */

struct metrics_reader;

/* Waits. Memory to be freed, or NULL if the bonds cannot be listed. */
char *metrics_reader_read(struct metrics_reader *reader, enum metrics_format format,
			  size_t *ret_length);

/*
 * metrics_http.c: speaks HTTP on a listening socket, by libmicrohttpd, in the thread that calls
 * metrics_http_turn(). What clients can use up is bounded: connections, their time, and the memory
 * of answers that they do not read.
 */

struct metrics_http;

/*
 * listen_fd stays the caller's. any_host: requests may name any. Returns NULL if libmicrohttpd
 * does not start.
 */
struct metrics_http *metrics_http_new(struct metrics_reader *reader, int listen_fd, bool any_host);
void metrics_http_free(struct metrics_http *http);

/* Readable when there is something to do. */
int metrics_http_fd(const struct metrics_http *http);
/* Does what there is to do. Returns after how many ms it is to be called, at the latest. */
int metrics_http_turn(struct metrics_http *http);

/*
 * metrics_text.c: writes metrics as text, in the two forms that scrapers read: OpenMetrics 1.0, and
 * the older text format 0.0.4 of Prometheus. Knows no metric and no bond. A value that is NAN is
 * unknown and gets no line.
 */

/* Buckets [n]: how many took less than 2^n us, but at least half of that; the last: the rest. */
#define METRICS_BUCKETS 28

struct metrics_histogram {
	double bucket[METRICS_BUCKETS];
	double sum_s;
	bool known;
};

struct metrics_text {
	char *bytes;
	size_t length, room;
	enum metrics_format format;
};

/* Begins the lines of a metric. All its samples follow, before those of another one. */
void metrics_text_begin(struct metrics_text *text, const struct view_metric *name);
/* labels, more: as `key="value"`, with commas between them, escaped; NULL or "": none. */
void metrics_text_sample(struct metrics_text *text, const struct view_metric *name,
			 const char *labels, const char *more, double value);
void metrics_text_histogram(struct metrics_text *text, const struct view_metric *name,
			    const char *labels, const struct metrics_histogram *histogram);
/* Adds the other text, which ends. */
void metrics_text_take(struct metrics_text *text, struct metrics_text *from);
/* The end of all. */
void metrics_text_finish(struct metrics_text *text);

/* A value of a label takes at most so much of each byte, and 1 for the end. */
#define METRICS_ESCAPED(size) (2 * (size) + 1)
/* Makes it fit between the quotes of a label; what does not fit in is cut off. Returns ret_text. */
char *metrics_text_escape(char *ret_text, size_t size, const char *value);

/* metrics_request.c: what headers of a request ask for. Bytes from outside; no I/O. */

/*
 * The header Accept; NULL: there is none. OpenMetrics is for those who name version 1.0.0 of it, or
 * no version, and do not like text/plain better.
 */
enum metrics_format metrics_request_format(const char *accept);

/*
 * The header Host; NULL: there is none. Is it an address, localhost, or a name whose first label is
 * that of hostname? A page of the web that has let its own name lead to our address (DNS rebinding)
 * has another one.
 */
bool metrics_request_is_for_us(const char *host, const char *hostname);

/* metrics_collect.c */

/*
 * What is answered to HTTP requests, made from the pinned maps: metrics as text, and all bonds as
 * JSON. Knows no HTTP. The maps of all bonds are kept open from one answer to the next, because
 * opening them takes most of an answer's time. They are closed when nobody has asked for a while.
 */
struct metrics_pins;

/* bpf_dir stays in use. */
struct metrics_pins *metrics_pins_new(const char *bpf_dir);
void metrics_pins_free(struct metrics_pins *all);
/* Closes what nobody has asked for lately. Returns whether any are open still. */
bool metrics_pins_close_unused(struct metrics_pins *all);

/*
 * run_dir has the figures of the main loop. METRICS_JSON: an array as `bondctl -j show` prints it.
 * Returns memory to be freed, or NULL if the bonds cannot be listed.
 */
char *metrics_collect(struct metrics_pins *pins, const char *run_dir, enum metrics_format format,
		      size_t *ret_length);

#endif
