/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections on the control socket: who asks, lines in, lines out. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/control.h"
#include "daemon/log.h"

#define LINE_MAX_SIZE (64 * 1024)
#define READER_GROUP "xbond"
#define ANSWER_MAX_SIZE (1024 * 1024) /* a bond of 64 slaves is a tenth of it */
#define MAX_GROUPS 1024

struct client {
	struct daemon *daemon;
	sd_event_source *source;
	int fd;
	bool root;
	size_t used;
	char buffer[LINE_MAX_SIZE];
};

static void client_free(struct client *client)
{
	sd_event_source_disable_unref(client->source);
	close(client->fd);
	free(client);
}

/* Never waits: answers fit into the socket's buffer, and a client that does not read them loses its connection. */
static int send_answer(const struct client *client, json_t *answer)
{
	char *text = json_dumps(answer, JSON_COMPACT), *line = NULL;
	int length = text ? asprintf(&line, "%s\n", text) : -1;
	ssize_t sent = length < 0 ? -1 : send(client->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);

	free(text);
	free(line);
	json_decref(answer);
	return sent == length ? 0 : -EPIPE;
}

static int send_error(const struct client *client, const char *text)
{
	return send_answer(client, json_pack("{s:b, s:s}", "ok", 0, "error", text));
}

static int answer_lines(struct client *client)
{
	char *newline;
	int r = 0;

	while (!r && (newline = memchr(client->buffer, '\n', client->used))) {
		size_t length = (size_t)(newline - client->buffer);

		r = send_answer(client, control_answer(client->daemon, client->buffer, length, client->root));
		client->used -= length + 1;
		memmove(client->buffer, newline + 1, client->used);
	}
	if (!r && client->used == sizeof(client->buffer)) {
		send_error(client, "bad request: longer than 64 KiB");
		r = -EMSGSIZE;
	}
	return r;
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct client *client = arg;
	ssize_t got;

	(void)source;
	(void)events;
	got = recv(fd, client->buffer + client->used, sizeof(client->buffer) - client->used, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0)
		client->used += (size_t)got;
	if (got <= 0 || answer_lines(client))
		client_free(client);
	return 0;
}

static bool in_group(int fd, const struct ucred *peer)
{
	struct group *group = getgrnam(READER_GROUP);
	gid_t groups[MAX_GROUPS];
	socklen_t length = sizeof(groups);

	if (!group)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
		length = 0;
	for (size_t i = 0; i < length / sizeof(groups[0]); i++)
		if (groups[i] == group->gr_gid)
			return true;
	return peer->gid == group->gr_gid;
}

static void add_client(struct daemon *daemon, int fd, bool root)
{
	struct client *client = calloc(1, sizeof(*client));
	const int room = ANSWER_MAX_SIZE;

	if (!client) {
		close(fd);
		return;
	}
	client->daemon = daemon;
	client->fd = fd;
	client->root = root;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	if (sd_event_add_io(daemon->event, &client->source, fd, EPOLLIN, on_client, client) < 0)
		client_free(client);
}

static int on_connection(sd_event_source *source, int listen_fd, uint32_t events, void *arg)
{
	struct client refused = { .fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC) };
	struct ucred peer;
	socklen_t length = sizeof(peer);

	(void)source;
	(void)events;
	if (refused.fd < 0)
		return 0;
	if (getsockopt(refused.fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	    (peer.uid == 0 || in_group(refused.fd, &peer))) {
		add_client(arg, refused.fd, peer.uid == 0);
		return 0;
	}
	send_error(&refused, "permission denied: only root and the group xbond may ask bondd");
	close(refused.fd);
	return 0;
}

static int listen_on(const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct group *group = getgrnam(READER_GROUP);
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ENAMETOOLONG, "%s is too long for a socket; give a shorter --run-dir",
			       path);
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, errno, "no socket: %m");
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, SOMAXCONN) < 0) {
		close(fd);
		return err_set(err, errno, "cannot listen on %s: %m", path);
	}
	chmod(path, 0660);
	if (group && chown(path, (uid_t)-1, group->gr_gid) < 0)
		log_warning("%s: cannot give it to the group %s: %m", path, READER_GROUP);
	return fd;
}

static void socket_path(const struct daemon *daemon, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s/" PATHS_SOCKET_NAME, daemon->paths.run_dir);
}

int control_init(struct daemon *daemon, struct err *err)
{
	char path[PATH_MAX];
	int fd, r;

	socket_path(daemon, path, sizeof(path));
	fd = listen_on(path, err);
	if (fd < 0)
		return fd;
	r = sd_event_add_io(daemon->event, NULL, fd, EPOLLIN, on_connection, daemon);
	return r < 0 ? err_set(err, -r, "cannot watch %s: %s", path, strerror(-r)) : 0;
}

void control_done(struct daemon *daemon)
{
	char path[PATH_MAX];

	socket_path(daemon, path, sizeof(path));
	unlink(path);
}
