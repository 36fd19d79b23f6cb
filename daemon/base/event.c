/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/err.h"
#include "common/paths.h"
#include "daemon/base/log.h"

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
	void (*listener)(void *arg);
	void *listener_arg;
} events;

void event_init(const char *run_dir)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = event_now_us();
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

void event_listen(void (*listener)(void *arg), void *arg)
{
	events.listener = listener;
	events.listener_arg = arg;
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
	const struct event_stamp stamp = { .time_us = event_now_us(), .bondd = run, .seq = seq };
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
	if (json)
		json[strlen(json) - 1] = '\0';
	event_write_log(&event, line, json ? json : "");
	free(json);
	if (events.listener)
		events.listener(events.listener_arg);
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
