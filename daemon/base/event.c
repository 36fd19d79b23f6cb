/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/paths.h"

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

/*
 * Returns false if the line belongs on stderr: bondd does not run under the journal, or nobody
 * listens at the journal's socket.
 */
static bool journal_send(int priority, const char *text, const struct journal_field *fields,
			 size_t count)
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
	json_value_tame(line);
	if (journal_send(priority, line, NULL, 0))
		return;
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", priority, line);
	else
		fprintf(stderr, "bondd: %s\n", line);
}

/* The ring. */

struct event_ring_line {
	uint64_t at; /* counts all bytes that were ever added; its place is the rest by size */
	size_t length;
};

void event_ring_init(struct event_ring *ring, size_t size, unsigned int lines)
{
	*ring = (struct event_ring){ .bytes = memory_need(malloc(size)),
				     .size = size,
				     .lines = memory_need(calloc(lines, sizeof(*ring->lines))),
				     .room = lines,
				     .first = 1,
				     .next = 1 };
	/*
	 * All memory is taken now, so bondd does not seem to grow while the ring fills. Of zeros
	 * the compiler would make a calloc(), which takes none.
	 */
	memset(ring->bytes, '\n', size);
	memset(ring->lines, 0xff, lines * sizeof(*ring->lines));
}

void event_ring_done(struct event_ring *ring)
{
	free(ring->bytes);
	free(ring->lines);
	ring->bytes = NULL;
	ring->lines = NULL;
	ring->room = 0;
	ring->first = ring->next;
}

static struct event_ring_line *event_ring_line(const struct event_ring *ring, uint64_t number)
{
	return &ring->lines[number % ring->room];
}

static uint64_t event_ring_end(const struct event_ring *ring)
{
	const struct event_ring_line *last;

	if (ring->first == ring->next)
		return 0;
	last = event_ring_line(ring, ring->next - 1);
	return last->at + last->length;
}

static void event_ring_write(struct event_ring *ring, uint64_t at, const char *from, size_t length)
{
	size_t place = at % ring->size, head = ring->size - place;

	if (head > length)
		head = length;
	memcpy(ring->bytes + place, from, head);
	memcpy(ring->bytes, from + head, length - head);
}

static void event_ring_read(const struct event_ring *ring, const struct event_ring_line *line,
			    char *to)
{
	size_t place = line->at % ring->size, head = ring->size - place;

	if (head > line->length)
		head = line->length;
	memcpy(to, ring->bytes + place, head);
	memcpy(to + head, ring->bytes, line->length - head);
}

void event_ring_add(struct event_ring *ring, const char *line, size_t length)
{
	uint64_t at = event_ring_end(ring);

	if (!ring->room || length > ring->size) {
		ring->first = ++ring->next;
		return;
	}
	while (ring->first < ring->next &&
	       (ring->next - ring->first == ring->room ||
		at + length - event_ring_line(ring, ring->first)->at > ring->size))
		ring->first++;
	event_ring_write(ring, at, line, length);
	*event_ring_line(ring, ring->next++) =
		(struct event_ring_line){ .at = at, .length = length };
}

size_t event_ring_copy(const struct event_ring *ring, uint64_t *at, char *buffer, size_t room)
{
	size_t used = 0;

	if (*at < ring->first)
		*at = ring->first;
	while (*at < ring->next) {
		const struct event_ring_line *line = event_ring_line(ring, *at);

		if (line->length > room - used)
			break;
		event_ring_read(ring, line, buffer + used);
		used += line->length;
		++*at;
	}
	return used;
}

/* Telling. */

#define EVENT_RING_BYTES (1024 * 1024)
#define EVENT_RING_LINES 4096
#define JOURNAL_FIELDS (EVENT_FIELDS_MAX + 5)
#define NO_LOGIN UINT32_MAX

struct event_author {
	int pid;	  /* 0: nobody */
	char program[32]; /* as the process calls itself; "": unknown */
	/* Who has logged in, whoever they have become since. */
	bool has_login;
	uint32_t login_uid;
};

/* Who has sent a request, by what /proc says of the process while it waits for the answer. */

/* Up to the end of the first line. Returns false if there is nothing. */
static bool event_author_read(int pid, const char *file, char *ret_text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, ret_text, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	ret_text[got] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return true;
}

static void event_author_find(int pid, struct event_author *ret_author)
{
	char text[16];

	*ret_author = (struct event_author){ .pid = pid };
	if (pid <= 0)
		return;
	event_author_read(pid, "comm", ret_author->program, sizeof(ret_author->program));
	if (!event_author_read(pid, "loginuid", text, sizeof(text)))
		return;
	ret_author->login_uid = (uint32_t)strtoul(text, NULL, 10);
	ret_author->has_login = ret_author->login_uid != NO_LOGIN;
}

static struct {
	struct event_ring ring;
	char run_dir[PATH_MAX];
	char run[17];
	int author_pid;
	void (*listener)(void);
} events;

void event_init(const char *run_dir)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = clock_unix_us();
	snprintf(events.run, sizeof(events.run), "%016" PRIx64, number);
	snprintf(events.run_dir, sizeof(events.run_dir), "%.*s", paths_length(run_dir), run_dir);
	event_ring_init(&events.ring, EVENT_RING_BYTES, EVENT_RING_LINES);
}

void event_done(void)
{
	events.listener = NULL;
	event_ring_done(&events.ring);
}

const struct event_ring *event_ring(void)
{
	return &events.ring;
}

const char *event_run(void)
{
	return events.run;
}

void event_listen(void (*listener)(void))
{
	events.listener = listener;
}

int event_set_author(int pid)
{
	int before = events.author_pid;

	events.author_pid = pid;
	return before;
}

/* The fields that `journalctl` can select by. Numbers and texts only: XBOND_EVENT has all. */
static size_t event_journal_fields(const struct event *event, const char *json,
				   struct journal_field fields[JOURNAL_FIELDS],
				   char names[EVENT_FIELDS_MAX][32],
				   char numbers[EVENT_FIELDS_MAX][24])
{
	size_t count = 0;

	fields[count++] = (struct journal_field){ "EVENT", event_kind_info(event->kind)->name };
	fields[count++] = (struct journal_field){ "XBOND_EVENT", json };
	fields[count++] = (struct journal_field){ "XBOND_RUN_DIR", events.run_dir };
	if (event->bond)
		fields[count++] = (struct journal_field){ "BOND", event->bond };
	if (event->slave)
		fields[count++] = (struct journal_field){ "SLAVE", event->slave };
	for (unsigned int i = 0; i < EVENT_FIELDS_MAX && event->field[i].name; i++) {
		const struct event_field *field = &event->field[i];
		const char *value = field->text;

		if (field->type == EVENT_FIELD_NUMBER) {
			snprintf(numbers[i], sizeof(numbers[i]), "%" PRIu64, field->number);
			value = numbers[i];
		}
		if (field->type == EVENT_FIELD_JSON || !value)
			continue;
		snprintf(names[i], sizeof(names[i]), "XBOND_%s", field->name);
		for (char *at = names[i]; *at; at++)
			if (*at >= 'a' && *at <= 'z')
				*at = (char)(*at - 'a' + 'A');
		fields[count++] = (struct journal_field){ names[i], value };
	}
	return count;
}

static void event_write_log(const struct event *event, const char *line, const char *json)
{
	char names[EVENT_FIELDS_MAX][32], numbers[EVENT_FIELDS_MAX][24];
	struct journal_field fields[JOURNAL_FIELDS];
	size_t count = event_journal_fields(event, json, fields, names, numbers);

	if (!journal_send(event->priority, line, fields, count) && event->priority < LOG_DEBUG)
		log_line(event->priority, "%s", line);
}

/* ret_author must live as long as the event. */
static void event_add_author(struct event *event, struct event_author *ret_author)
{
	unsigned int i = 0;

	if (event->kind != EVENT_CONFIG || !events.author_pid)
		return;
	event_author_find(events.author_pid, ret_author);
	while (i < EVENT_FIELDS_MAX && event->field[i].name)
		i++;
	if (i < EVENT_FIELDS_MAX)
		event->field[i++] = event_number("pid", (uint64_t)ret_author->pid);
	if (i < EVENT_FIELDS_MAX && ret_author->program[0])
		event->field[i++] = event_text("program", ret_author->program);
	if (i < EVENT_FIELDS_MAX && ret_author->has_login)
		event->field[i++] = event_number("login_uid", ret_author->login_uid);
}

/* Returns the JSON with its line feed; NULL: it is too long. */
static char *event_text_of(const struct event *event, uint64_t seq, const char *run,
			   const char *sentence)
{
	const struct event_stamp stamp = { .time_us = clock_unix_us(), .bondd = run, .seq = seq };
	json_t *json = view_event(event, &stamp, sentence);
	char *text = json_dumps(json, JSON_COMPACT), *line = NULL;

	json_decref(json);
	if (text && strlen(text) < EVENT_LINE_MAX)
		line = memory_text("%s\n", text);
	free(text);
	return line;
}

void event_tell(const struct event *told, const char *format, ...)
{
	struct event event = *told;
	struct event_author author;
	char sentence[2048], line[2100];
	va_list args;
	char *json;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	event_add_author(&event, &author);
	json = event_text_of(&event, events.ring.next, events.run, sentence);
	event_ring_add(&events.ring, json ? json : "", json ? strlen(json) : 0);
	snprintf(line, sizeof(line), "%s%s%s", event.bond ? event.bond : "", event.bond ? ": " : "",
		 sentence);
	json_value_tame(line);
	if (json)
		json[strlen(json) - 1] = '\0';
	event_write_log(&event, line, json ? json : "");
	free(json);
	if (events.listener)
		events.listener();
}

size_t event_lost_line(uint64_t count, char *line, size_t size)
{
	const struct event event = { .kind = EVENT_LOST,
				     .field = { event_number("count", count) } };
	char sentence[96];
	char *text;
	int length;

	snprintf(sentence, sizeof(sentence),
		 "%" PRIu64 " events are missing: this reader was too slow", count);
	text = event_text_of(&event, 0, NULL, sentence);
	length = snprintf(line, size, "%s", text ? text : "");
	free(text);
	return length > 0 && (size_t)length < size ? (size_t)length : 0;
}
