/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where metrics are asked for: ADDR:PORT or unix:PATH, as a user writes it, and as a socket. */
#ifndef XBOND_DAEMON_METRICS_METRICS_LISTEN_H
#define XBOND_DAEMON_METRICS_METRICS_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "common/err.h"

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

#endif
