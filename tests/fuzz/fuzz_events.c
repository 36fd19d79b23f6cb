/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of any content to what bondctl monitor makes of them: as lines of the journal, and as what
 * bondd sends. Lines end with a zero byte. What goes to a terminal must not contain what a terminal
 * obeys.
 */
#include <systemd/sd-journal.h>

#include "cli/monitor/events_in.h"
#include "tests/fuzz/arena.h"

static struct input input;
static char *line;

int __wrap_sd_journal_open(sd_journal **ret, int flags)
{
	*ret = NULL;
	return 0;
}

int __wrap_sd_journal_set_data_threshold(sd_journal *journal, size_t size)
{
	return 0;
}

int __wrap_sd_journal_add_match(sd_journal *journal, const void *data, size_t size)
{
	return 0;
}

int __wrap_sd_journal_seek_realtime_usec(sd_journal *journal, uint64_t usec)
{
	return 0;
}

int __wrap_sd_journal_next(sd_journal *journal)
{
	return input.left > 0;
}

/* The field with its name, in memory of exactly its size, as the journal has it. */
int __wrap_sd_journal_get_data(sd_journal *journal, const char *field, const void **ret_data,
			       size_t *ret_length)
{
	size_t length = strnlen((const char *)input.at, input.left), name = strlen(field) + 1;

	free(line);
	line = malloc(name + length);
	if (!line)
		abort();
	memcpy(line, field, name - 1);
	line[name - 1] = '=';
	memcpy(line + name, input.at, length);
	input.at += length + (length < input.left);
	input.left -= length + (length < input.left);
	*ret_data = line;
	*ret_length = name + length;
	return 0;
}

void __wrap_sd_journal_close(sd_journal *journal)
{
	free(line);
	line = NULL;
}

/* JSON may have DEL as it is. */
static ssize_t check_printed(void *json, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		input_check((byte >= 0x20 || byte == '\n') && (byte != 0x7f || *(bool *)json),
			    "nothing that a terminal obeys");
	}
	return (ssize_t)length;
}

/* The first byte says in which form. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct events_in in = { .run_dir = "/run/xbond", .fd = -1 };
	static struct event_print print;
	static FILE *printed;
	FILE *before = stdout;

	arena_start();
	if (!printed)
		printed = fopencookie(&print.json, "w",
				      (cookie_io_functions_t){ .write = check_printed });
	input = (struct input){ data, size };
	print = (struct event_print){ .json = input_u8(&input) & 1 };
	print.bond = print.json ? "bond0" : NULL;
	in.run[0] = '\0';
	in.next = in.head = 0;
	stdout = printed;
	history_print(&print, &in, 0);
	fflush(stdout);
	stdout = before;
	input_check(strlen(in.run) < sizeof(in.run), "the name of a run ends");
	arena_end();
	return 0;
}
