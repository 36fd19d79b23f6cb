/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define JOURNAL_MESSAGE_SIZE (32 * 1024)

struct journal_message {
	char bytes[JOURNAL_MESSAGE_SIZE];
	size_t used;
};

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static here */
static struct {
	bool known; /* fd has been set */
	int fd;	    /* -1: stderr does not go to the journal */
	unsigned long lost;
} journal;

/* The service manager says by this variable which stream leads to the journal. */
static bool journal_is_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat stat;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && !fstat(2, &stat) &&
	       stat.st_dev == device && stat.st_ino == inode;
}

static int journal_fd(void)
{
	if (!journal.known)
		journal.fd =
			journal_is_stderr() ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	journal.known = true;
	return journal.fd;
}

static void journal_put(struct journal_message *message, const void *bytes, size_t length)
{
	memcpy(message->bytes + message->used, bytes, length);
	message->used += length;
}

/* In the form that takes any bytes: a line with the name, 8 bytes of length, the value. */
static void journal_add(struct journal_message *message, const char *name, const char *value)
{
	uint64_t length = htole64(strlen(value));

	if (strlen(name) + strlen(value) + sizeof(length) + 2 >
	    sizeof(message->bytes) - message->used)
		return;
	journal_put(message, name, strlen(name));
	journal_put(message, "\n", 1);
	journal_put(message, &length, sizeof(length));
	journal_put(message, value, strlen(value));
	journal_put(message, "\n", 1);
}

static void journal_begin(struct journal_message *message, int priority, const char *text)
{
	char digits[16];

	message->used = 0;
	snprintf(digits, sizeof(digits), "%d", priority);
	journal_add(message, "SYSLOG_IDENTIFIER", "bondd");
	journal_add(message, "PRIORITY", digits);
	journal_add(message, "MESSAGE", text);
}

/* The path is resolved each time, because the journal may be started again. Returns 0 or -errno. */
static int journal_hand_over(const struct journal_message *message)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	ssize_t sent =
		sendto(journal_fd(), message->bytes, message->used, MSG_DONTWAIT | MSG_NOSIGNAL,
		       (const struct sockaddr *)&address, sizeof(address));

	return sent < 0 ? -errno : 0;
}

static void journal_tell_lost(struct journal_message *message)
{
	char text[96];

	snprintf(text, sizeof(text), "%lu lines are missing here: the journal was too busy",
		 journal.lost);
	journal_begin(message, 4, text);
	if (!journal_hand_over(message))
		journal.lost = 0;
}

static bool journal_send_locked(int priority, const char *text, const struct journal_field *fields,
				size_t count)
{
	static struct journal_message message;
	int r;

	if (journal_fd() < 0)
		return false;
	if (journal.lost)
		journal_tell_lost(&message);
	journal_begin(&message, priority, text);
	for (size_t i = 0; i < count; i++)
		journal_add(&message, fields[i].name, fields[i].value);
	r = journal_hand_over(&message);
	if (r != -EAGAIN && r != -ENOBUFS)
		return !r;
	journal.lost++;
	return true;
}

bool journal_send(int priority, const char *text, const struct journal_field *fields, size_t count)
{
	bool taken;

	pthread_mutex_lock(&journal_lock);
	taken = journal_send_locked(priority, text, fields, count);
	pthread_mutex_unlock(&journal_lock);
	return taken;
}

void log_line(int priority, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (journal_send(priority, line, NULL, 0))
		return;
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", priority, line);
	else
		fprintf(stderr, "bondd: %s\n", line);
}
