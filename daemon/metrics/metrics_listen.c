/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/event.h"

#define UNIX_PREFIX "unix:"
#define HOST_SIZE 64
#define MAX_PORT 65535
#define UNIX_MODE 0660

static int metrics_listen_wrong(const char *text, struct err *err)
{
	return err_set(
		err, EINVAL,
		"--metrics takes ADDR:PORT (127.0.0.1:9977, [::1]:9977) or unix:/PATH, not %s",
		text);
}

static int metrics_listen_parse_unix(const char *path, struct metrics_address *ret_address,
				     struct err *err)
{
	struct sockaddr_un *un = &ret_address->socket.un;

	if (*path != '/')
		return err_set(err, EINVAL, "--metrics unix:PATH takes a path from / on, not %s",
			       path);
	if (strlen(path) >= sizeof(un->sun_path))
		return err_set(err, EINVAL,
			       "--metrics: the path of a socket has at most %zu characters",
			       sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, strlen(path) + 1);
	ret_address->length = sizeof(*un);
	return 0;
}

static bool metrics_listen_is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	long port = strtol(text, NULL, 10);

	return digits && digits <= 5 && !text[digits] && port >= 1 && port <= MAX_PORT;
}

/* From "[::1]" the address in it. An IPv6 address needs its brackets, others may not have them. */
static bool metrics_listen_split_host(const char *text, const char *colon, char ret_host[HOST_SIZE])
{
	bool brackets = *text == '[';
	size_t length = (size_t)(colon - text);

	if (brackets != (memchr(text, ':', length) != NULL))
		return false;
	if (brackets && (length < 2 || text[length - 1] != ']'))
		return false;
	length -= brackets ? 2 : 0;
	if (!length || length >= HOST_SIZE)
		return false;
	memcpy(ret_host, text + brackets, length);
	ret_host[length] = '\0';
	return true;
}

static int metrics_listen_parse_ip(const char *text, struct metrics_address *ret_address,
				   struct err *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found;
	char host[HOST_SIZE];

	if (!colon || !metrics_listen_is_port(colon + 1) ||
	    !metrics_listen_split_host(text, colon, host) ||
	    getaddrinfo(host, colon + 1, &hints, &found))
		return metrics_listen_wrong(text, err);
	memcpy(&ret_address->socket, found->ai_addr, found->ai_addrlen);
	ret_address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

int metrics_listen_parse(const char *text, struct metrics_address *ret_address, struct err *err)
{
	*ret_address = (struct metrics_address){ .text = text };
	if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)))
		return metrics_listen_parse_unix(text + strlen(UNIX_PREFIX), ret_address, err);
	return metrics_listen_parse_ip(text, ret_address, err);
}

/* Does somebody listen there? Returns -EADDRINUSE then, and when it is no socket. */
static int metrics_listen_clear_path(const struct metrics_address *address, struct err *err)
{
	const char *path = address->socket.un.sun_path;
	struct stat st;
	int fd, r;

	if (lstat(path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, EADDRINUSE,
			       "%s is not a socket; remove it, or give another path", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, errno, "cannot make a socket: %m");
	r = connect(fd, &address->socket.any, address->length) ? -errno : 0;
	close(fd);
	if (r != -ECONNREFUSED)
		return err_set(err, EADDRINUSE,
			       "another program listens on %s; stop it, or give another path",
			       path);
	unlink(path);
	return 0;
}

/*
 * An address that the machine does not have yet is no error, because bondd starts before the
 * network.
 */
static void metrics_listen_set_options(int fd, int family)
{
	const int on = 1, off = 0;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
	if (family == AF_INET6) /* [::] is all addresses, those of IPv4 included */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
}

static void metrics_listen_give_to(const char *path, gid_t group)
{
	if (group != (gid_t)-1 && chown(path, (uid_t)-1, group) < 0)
		log_warning("%s: cannot give it to the group: %m", path);
	chmod(path, UNIX_MODE);
}

static int metrics_listen_bind(const struct metrics_address *address, int fd, gid_t group)
{
	const char *path = address->socket.un.sun_path;

	if (!metrics_listen_is_unix(address))
		metrics_listen_set_options(fd, address->socket.any.sa_family);
	else if (fchmod(fd, UNIX_MODE) < 0) /* the file gets what umask leaves of it */
		return -errno;
	if (bind(fd, &address->socket.any, address->length) < 0)
		return -errno;
	if (metrics_listen_is_unix(address))
		metrics_listen_give_to(path, group);
	return listen(fd, SOMAXCONN) < 0 ? -errno : 0;
}

int metrics_listen_open(const struct metrics_address *address, gid_t group, struct err *err)
{
	int fd, r;

	r = metrics_listen_is_unix(address) ? metrics_listen_clear_path(address, err) : 0;
	if (r)
		return r;
	fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	r = fd < 0 ? -errno : metrics_listen_bind(address, fd, group);
	if (!r)
		return fd;
	if (fd >= 0)
		close(fd);
	return err_set(err, -r, "%s", strerror(-r));
}

void metrics_listen_close(const struct metrics_address *address, int fd)
{
	if (metrics_listen_is_unix(address))
		unlink(address->socket.un.sun_path);
	close(fd);
}
