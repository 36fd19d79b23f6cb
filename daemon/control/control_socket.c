/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections of the control socket: who asks, lines in, lines out. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/control/control.h"
#include "daemon/manage/apply.h"

#define LINE_MAX_SIZE (64 * 1024)
#define READER_GROUP "xbond"
#define NO_GROUP ((gid_t)-1)
#define ANSWER_MAX_SIZE (1024 * 1024) /* a bond of 64 slaves takes a tenth of it */
#define MAX_GROUPS 1024
#define REST_US (US_PER_S / 2)
#define MAX_READERS 64	/* connections of group members */
#define MAX_PER_USER 16 /* of these; so one user cannot shut out the others */

/* Where connections come in. */
static struct {
	sd_event_source *source, *rest; /* rest: listens again when there may be room */
	int fd, spare_fd;
	dev_t dev; /* of the socket's file, which somebody may replace; 0, 0: there is none */
	ino_t inode;
	bool is_lost; /* and that was logged */
	bool has_records_due;
} control_listener = { .fd = -1, .spare_fd = -1 };

struct client {
	struct daemon *daemon;
	struct client *next; /* the next group member: daemon->readers */
	struct control_client who;
	sd_event_source *source, *more; /* data to read; requests read but not answered yet */
	int fd;
	bool waits; /* for an answer that comes later */
	size_t used;
	char buffer[LINE_MAX_SIZE];
};

static void control_socket_client_free(struct client *client)
{
	memory_unlist(client->daemon->readers, client);
	sd_event_source_disable_unref(client->source);
	sd_event_source_disable_unref(client->more);
	if (client->fd >= 0)
		close(client->fd);
	free(client);
}

/*
 * Never waits. Answers fit into the socket's buffer, and a client that does not read them loses its
 * connection.
 */
static int control_socket_send_answer(const struct client *client, json_t *answer)
{
	char *text = json_dumps(answer, JSON_COMPACT), *line = NULL;
	ssize_t sent = -1, length = 0;

	if (text) {
		line = memory_text("%s\n", text);
		length = (ssize_t)strlen(line);
		sent = send(client->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	free(text);
	free(line);
	json_decref(answer);
	return sent == length ? 0 : -EPIPE;
}

static int control_socket_send_error(const struct client *client, const char *text)
{
	return control_socket_send_answer(client, json_pack("{s:b, s:s}", "ok", 0, "error", text));
}

/* The connection is the subscriber's from now on; the caller frees what is left of the client. */
static void control_socket_hand_over(struct client *client, uint64_t since)
{
	int fd = client->fd;

	client->source = sd_event_source_disable_unref(client->source);
	client->fd = -1;
	subscriber_add(client->daemon, fd, client->who.uid, since);
}

static void control_socket_answer_later(struct client *client, json_t *answer)
{
	client->waits = false;
	if (control_socket_send_answer(client, answer))
		control_socket_client_free(client);
	else
		sd_event_source_set_enabled(client->more, SD_EVENT_ONESHOT);
}

/* Returns an error if the client is done with. */
static int control_socket_answer_line(struct client *client, const char *newline)
{
	size_t length = (size_t)(newline - client->buffer);
	uint64_t since;
	json_t *answer =
		control_answer(client->daemon, &client->who, client->buffer, length, &since);
	int r = answer ? control_socket_send_answer(client, answer) : 0;

	if (r)
		return r;
	client->waits = !answer;
	if (since) {
		control_socket_hand_over(client, since);
		return -ESHUTDOWN;
	}
	client->used -= length + 1;
	memmove(client->buffer, newline + 1, client->used);
	return 0;
}

/*
 * Handles one line in each turn of the event loop, so that carrier and timers do not wait for all
 * of them.
 */
static int control_socket_on_line(sd_event_source *source, void *arg)
{
	struct client *client = arg;
	const char *newline = memchr(client->buffer, '\n', client->used);

	if (newline && control_socket_answer_line(client, newline)) {
		control_socket_client_free(client);
		return 0;
	}
	if (!newline && client->used == sizeof(client->buffer)) {
		control_socket_send_error(client, "bad request: longer than 64 KiB");
		control_socket_client_free(client);
		return 0;
	}
	sd_event_source_set_enabled(client->more,
				    newline && !client->waits ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	sd_event_source_set_enabled(client->source,
				    newline || client->waits ? SD_EVENT_OFF : SD_EVENT_ON);
	return 0;
}

static int control_socket_on_client(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct client *client = arg;
	ssize_t got;

	got = recv(fd, client->buffer + client->used, sizeof(client->buffer) - client->used,
		   MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0)
		client->used += (size_t)got;
	if (got > 0)
		return control_socket_on_line(client->more, client);
	control_socket_client_free(client);
	return 0;
}

static bool control_socket_in_group(int fd, const struct ucred *peer, gid_t readers)
{
	gid_t groups[MAX_GROUPS];
	socklen_t length = sizeof(groups);

	if (readers == NO_GROUP)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
		length = 0;
	for (size_t i = 0; i < length / sizeof(groups[0]); i++)
		if (groups[i] == readers)
			return true;
	return peer->gid == readers;
}

static void control_socket_add_client(struct daemon *daemon, int fd, const struct ucred *peer)
{
	struct client *client = memory_need(calloc(1, sizeof(*client)));
	const int room = ANSWER_MAX_SIZE;

	client->daemon = daemon;
	client->fd = fd;
	client->who = (struct control_client){ peer->uid, peer->pid, control_socket_answer_later,
					       client };
	if (peer->uid) {
		client->next = daemon->readers;
		daemon->readers = client;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	if (sd_event_add_io(daemon->event, &client->source, fd, EPOLLIN, control_socket_on_client,
			    client) < 0 ||
	    sd_event_add_defer(daemon->event, &client->more, control_socket_on_line, client) < 0) {
		control_socket_send_error(client, "bondd has no memory for this connection; "
						  "try again");
		control_socket_client_free(client);
		return;
	}
	sd_event_source_set_enabled(client->more, SD_EVENT_OFF);
	sd_event_source_set_priority(client->source, SD_EVENT_PRIORITY_IDLE);
	sd_event_source_set_priority(client->more, SD_EVENT_PRIORITY_IDLE);
}

/* Returns NULL if there is room. */
static const char *control_socket_no_room_for(const struct daemon *daemon, uid_t uid)
{
	unsigned int count = 0, theirs = 0;

	for (const struct client *client = daemon->readers; client; client = client->next) {
		count++;
		theirs += client->who.uid == uid;
	}
	if (theirs >= MAX_PER_USER)
		return "you have too many connections; close some";
	return count < MAX_READERS ? NULL : "the group xbond has too many connections; close some";
}

/* Returns NULL if the client may ask. */
static const char *control_socket_refusal_of(const struct daemon *daemon, int fd,
					     const struct ucred *peer)
{
	if (peer->uid == 0)
		return NULL;
	if (!control_socket_in_group(fd, peer, daemon->reader_gid))
		return "permission denied: only root and the group xbond may ask bondd";
	return control_socket_no_room_for(daemon, peer->uid);
}

static int control_socket_on_rested(sd_event_source *source, uint64_t usec, void *arg)
{
	sd_event_source_set_enabled(control_listener.source, SD_EVENT_ON);
	return 0;
}

/* Whoever waits to be accepted would make each turn of the loop end at once. */
static void control_socket_rest(struct daemon *daemon)
{
	sd_event_source_set_enabled(control_listener.source, SD_EVENT_OFF);
	if (!control_listener.rest)
		loop_timer(daemon->event, 0, control_socket_on_rested, NULL,
			   &control_listener.rest);
	loop_timer_after(control_listener.rest, REST_US);
}

/* There is no descriptor for another connection. The spare one is for telling so. */
static void control_socket_turn_away(struct daemon *daemon, int listen_fd)
{
	struct client refused;

	if (control_listener.spare_fd >= 0)
		close(control_listener.spare_fd);
	refused.fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (refused.fd >= 0) {
		control_socket_send_error(&refused,
					  "bondd has no file descriptors left; close some of its "
					  "connections, or raise its limit");
		close(refused.fd);
	} else if (errno != EAGAIN) {
		control_socket_rest(daemon);
	}
	control_listener.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int control_socket_on_connection(sd_event_source *source, int listen_fd, uint32_t events,
					void *arg)
{
	struct client refused = { .fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC) };
	struct ucred peer = { .uid = (uid_t)-1, .gid = NO_GROUP };
	socklen_t length = sizeof(peer);
	const char *refusal;

	if (refused.fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		control_socket_turn_away(arg, listen_fd);
	if (refused.fd < 0)
		return 0;
	getsockopt(refused.fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
	refusal = control_socket_refusal_of(arg, refused.fd, &peer);
	if (!refusal) {
		control_socket_add_client(arg, refused.fd, &peer);
		return 0;
	}
	control_socket_send_error(&refused, refusal);
	close(refused.fd);
	return 0;
}

static void control_socket_give_to(const char *path, gid_t readers)
{
	chmod(path, 0660);
	if (readers != NO_GROUP && chown(path, (uid_t)-1, readers) < 0)
		log_warning("%s: cannot give it to the group %s: %m", path, READER_GROUP);
}

/*
 * The socket of bondd.socket, or of whoever else listens for bondd; -1: nobody does. A bondd that
 * was started by hand meanwhile has removed its path.
 */
static int control_socket_inherited(const char *path)
{
	int count = sd_listen_fds(1), found = -1;

	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; fd++) {
		if (sd_is_socket_unix(fd, SOCK_STREAM, 1, path, 0) > 0) {
			found = fd;
			continue;
		}
		log_warning("systemd has passed a socket that is not %s; bondd does not use it",
			    path);
		close(fd);
	}
	if (found < 0 || !access(path, F_OK))
		return found;
	log_warning("%s was removed, so nobody can reach the socket that systemd has passed; bondd "
		    "makes its own",
		    path);
	close(found);
	return -1;
}

static int control_socket_listen_on(const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ENAMETOOLONG,
			       "%s is too long for a socket; give a shorter --run-dir", path);
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, errno, "cannot make a socket: %m");
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		close(fd);
		return err_set(err, errno, "cannot listen on %s: %m", path);
	}
	return fd;
}

static void control_socket_path(const struct daemon *daemon, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s/" PATHS_SOCKET_NAME, daemon->paths.run_dir);
}

/* Takes the descriptor. */
static int control_socket_attend(struct daemon *daemon, int fd, const char *path, struct err *err)
{
	struct stat file;
	int r;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	control_socket_give_to(path, daemon->reader_gid);
	control_listener.source = sd_event_source_disable_unref(control_listener.source);
	if (control_listener.fd >= 0)
		close(control_listener.fd);
	control_listener.fd = fd;
	control_listener.inode = 0;
	r = sd_event_add_io(daemon->event, &control_listener.source, fd, EPOLLIN,
			    control_socket_on_connection, daemon);
	if (r < 0)
		return err_set(err, -r, "cannot watch %s: %s", path, strerror(-r));
	sd_event_source_set_priority(control_listener.source, SD_EVENT_PRIORITY_IDLE);
	if (!stat(path, &file)) {
		control_listener.dev = file.st_dev;
		control_listener.inode = file.st_ino;
	}
	return 0;
}

static bool control_socket_is_there(const char *path)
{
	struct stat file;

	return !stat(path, &file) && file.st_ino == control_listener.inode &&
	       file.st_dev == control_listener.dev;
}

/* The group is looked up once, because that may take long if names come from the network. */
int control_init(struct daemon *daemon, struct err *err)
{
	const struct group *group = getgrnam(READER_GROUP);
	char path[PATH_MAX];
	int fd;

	daemon->reader_gid = group ? group->gr_gid : NO_GROUP;
	control_listener.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	control_socket_path(daemon, path, sizeof(path));
	fd = control_socket_inherited(path);
	daemon->socket_is_inherited = fd >= 0;
	if (fd < 0)
		fd = control_socket_listen_on(path, err);
	return fd < 0 ? fd : control_socket_attend(daemon, fd, path, err);
}

static int control_socket_open_again(struct daemon *daemon, const char *path, struct err *err)
{
	int fd = control_socket_listen_on(path, err), r;

	r = fd < 0 ? fd : control_socket_attend(daemon, fd, path, err);
	if (!r) {
		daemon->socket_is_inherited = false;
		control_listener.has_records_due = true;
		log_notice("somebody has removed %s; it is there again", path);
	}
	return r;
}

/* The lock comes first: it says that nobody else has this directory by now. */
void control_keep(struct daemon *daemon)
{
	const char *run_dir = daemon->paths.run_dir;
	char path[PATH_MAX];
	struct err err;
	int r;

	if (control_listener.fd < 0) /* it is not listening yet */
		return;
	r = directories_keep_run_dir(run_dir, &err);
	control_socket_path(daemon, path, sizeof(path));
	if (!r && !control_socket_is_there(path))
		r = control_socket_open_again(daemon, path, &err);
	if (!r && control_listener.has_records_due)
		control_listener.has_records_due = rollback_record_again();
	if (!r)
		latency_keep(run_dir);
	else if (!control_listener.is_lost)
		log_error("%s is gone, so nobody can reach bondd, and it cannot be made again: %s",
			  path, err.text);
	control_listener.is_lost = r;
}

void control_done(struct daemon *daemon)
{
	char path[PATH_MAX];

	subscriber_done();
	control_listener.source = sd_event_source_disable_unref(control_listener.source);
	control_listener.rest = sd_event_source_disable_unref(control_listener.rest);
	control_socket_path(daemon, path, sizeof(path));
	if (!daemon->socket_is_inherited && !control_listener.is_lost)
		unlink(path);
}
