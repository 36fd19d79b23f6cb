/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects to RUN_DIR/bondd.sock, writes a line of JSON and reads a line of JSON. Called by every
 * verb that needs bondd, and to find out whether bondd is there. After the request has been sent, a
 * failure means that nobody knows how far bondd got. The error line says so.
 */
#include "cli/base/client.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "options/values.h"
#include "view/view_bond.h"

#define MAX_REPLY_BYTES (1024 * 1024)

static int client_connect_to(const char *run_dir, int socket_flags, int wait_s)
{
	struct timeval wait = { .tv_sec = wait_s };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length, fd, r;

	length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", run_dir,
			  PATHS_SOCKET_NAME);
	if (length < 0 || (size_t)length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | socket_flags, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int client_connect_failed(const char *run_dir, int code, struct err *err)
{
	if (code == EACCES || code == EPERM)
		return err_set(err, EACCES, "no permission to talk to bondd at %s/%s; run as root",
			       run_dir, PATHS_SOCKET_NAME);
	if (code == ENAMETOOLONG)
		return err_set(err, ENOTCONN,
			       "the path %s/%s is too long for a socket; give a shorter --run-dir",
			       run_dir, PATHS_SOCKET_NAME);
	return err_set(err, ENOTCONN,
		       VIEW_BONDD_STOPPED " at %s/%s (%s); start it or give the right --run-dir",
		       run_dir, PATHS_SOCKET_NAME, strerror(code));
}

static int client_lost(const char *how, struct err *err)
{
	return err_set(
		err, ECONNRESET,
		"bondd was lost during the request (%s): the change may or may not be complete; "
		"check with 'bondctl show'",
		how);
}

/* What bondd does not get whole, it will not answer: the end tells it so, and it hangs up. */
static void client_send_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			shutdown(fd, SHUT_WR);
			return;
		}
		text += sent;
		length -= (size_t)sent;
	}
}

/*
 * Returns -EINVAL if nothing was sent. A failure while sending is no error, because the answer may
 * already be there.
 */
static int client_send_request(int fd, const json_t *request, struct err *err)
{
	char *text = json_dumps(request, JSON_COMPACT);
	char *line;

	if (!text)
		return err_set(err, EINVAL, "a name of the request is not UTF-8");
	line = memory_text("%s\n", text);
	client_send_all(fd, line, strlen(line));
	free(line);
	free(text);
	return 0;
}

/* Reads up to the end of the line, which becomes the end of the string. */
static int client_read_line(int fd, char *line, size_t size, struct err *err)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = recv(fd, line + used, size - used, 0);
		char *end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return client_lost("no answer in time", err);
		if (got < 0)
			return client_lost(strerror(errno), err);
		if (got == 0)
			return client_lost("it closed the connection", err);
		end = memchr(line + used, '\n', (size_t)got);
		used += (size_t)got;
		if (!end)
			continue;
		*end = '\0';
		return 0;
	}
	return client_lost("its answer is too long", err);
}

static int client_read_reply(int fd, json_t **ret_reply, struct err *err)
{
	char *line = memory_need(malloc(MAX_REPLY_BYTES));
	json_t *reply;
	int r;

	r = client_read_line(fd, line, MAX_REPLY_BYTES, err);
	if (!r) {
		reply = json_loads(line, 0, NULL);
		if (json_is_boolean(json_object_get(reply, "ok"))) {
			*ret_reply = reply;
		} else {
			json_decref(reply);
			r = client_lost("its answer is malformed", err);
		}
	}
	free(line);
	return r;
}

static int client_check_reply(const json_t *reply, struct err *err)
{
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (json_is_true(json_object_get(reply, "ok")))
		return 0;
	return err_set(err, EREMOTEIO, "%s",
		       error ? error : "bondd refused and gave no reason; see its log");
}

int client_call(const char *run_dir, const json_t *request, int wait_s, json_t **ret_reply,
		struct err *err)
{
	json_t *reply = NULL;
	int fd, r;

	fd = client_connect_to(run_dir, 0, wait_s);
	if (fd < 0)
		return client_connect_failed(run_dir, -fd, err);
	r = client_send_request(fd, request, err);
	if (!r)
		r = client_read_reply(fd, &reply, err);
	close(fd);
	if (!r)
		r = client_check_reply(reply, err);
	if (r)
		json_decref(reply);
	else
		*ret_reply = reply;
	return r;
}

int client_open(const char *run_dir, const json_t *request, struct err *err)
{
	int fd = client_connect_to(run_dir, 0, CLIENT_WAIT_SHORT_S), r;

	if (fd < 0)
		return client_connect_failed(run_dir, -fd, err);
	r = client_send_request(fd, request, err);
	if (!r)
		return fd;
	close(fd);
	return r;
}

bool client_present(const char *run_dir)
{
	int fd = client_connect_to(run_dir, SOCK_NONBLOCK, 1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

json_t *client_awaited(const char *run_dir, const char *bond)
{
	json_t *request = json_pack("{s:s, s:s}", "method", "show", "bond", bond), *reply = NULL,
	       *awaited = NULL;

	if (request && !client_call(run_dir, request, CLIENT_WAIT_SHORT_S, &reply, NULL))
		awaited = json_incref(json_object_get(json_object_get(reply, "result"), "awaited"));
	json_decref(request);
	json_decref(reply);
	return awaited;
}

bool client_is_silent(const char *run_dir)
{
	json_t *request = json_pack("{s:s}", "method", "ping"), *reply = NULL;
	struct err err;
	int r = client_call(run_dir, request, CLIENT_WAIT_SHORT_S, &reply, &err);

	json_decref(request);
	json_decref(reply);
	return r == -ECONNRESET && client_present(run_dir);
}

int steer_check(const struct pins *pins, const char *bond, struct err *err)
{
	if (pins_bondd_alive(pins) &&
	    __atomic_load_n(&pins->table->flags, __ATOMIC_RELAXED) & XBOND_F_HANDED_OVER)
		return err_set(err, EBUSY, PINS_HANDED_OVER, bond);
	return 0;
}

int steer_check_slave(const struct pins *pins, const char *bond, const char *slave, struct err *err)
{
	if (pins_slot_by_name(pins, slave) >= 0)
		return 0;
	return err_set(err, ENODEV, "'%s' is not a slave of %s; 'bondctl show %s' lists the slaves",
		       slave, bond, bond);
}

static int steer_write_settings(struct pins *pins, const char *bond, const char *slave,
				const struct option_set *set, struct err *err)
{
	int slot = slave ? pins_slot_by_name(pins, slave) : 0;

	if (slot < 0)
		return steer_check_slave(pins, bond, slave, err);
	values_write_given(pins, OPTION_IN_SETTINGS, (unsigned int)slot, set);
	return 0;
}

int steer_lock(const struct pins *pins, const char *bond, struct err *err)
{
	int lock = open(pins->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (lock < 0 || flock(lock, LOCK_EX))
		r = err_set(err, errno, "cannot lock %s: %m", pins->dir);
	else if (!pins_are_current(pins))
		r = err_set(
			err, ESTALE,
			"%s was removed or made anew meanwhile: the bond was deleted or renamed, "
			"or bondd was upgraded; try again",
			pins->dir);
	else
		r = steer_check(pins, bond, err);
	if (!r)
		return lock;
	if (lock >= 0)
		close(lock);
	return r;
}

int steer_write(struct pins *pins, const char *bond, const char *slave,
		const struct option_set *set, struct err *err)
{
	int lock = steer_lock(pins, bond, err);
	int r;

	if (lock < 0)
		return lock;
	r = steer_write_settings(pins, bond, slave, set, err);
	close(lock);
	return r;
}

int steer_tell_bondd(const char *run_dir, const struct pins *pins, const char *method,
		     const char *bond, struct err *err)
{
	json_t *request = json_pack("{s:s, s:s}", "method", method, "bond", bond);
	json_t *reply = NULL;
	int r = -ENOTCONN;

	/* A bondd that is stopped takes the request, and answers when it continues. */
	if (pins_bondd_alive(pins))
		r = client_call(run_dir, request, CLIENT_WAIT_SHORT_S, &reply, err);
	json_decref(request);
	json_decref(reply);
	return r;
}
