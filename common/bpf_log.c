/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/bpf_log.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#define LOG_LINES 3
#define LOG_LINE_SIZE 160

static struct {
	char line[LOG_LINES][LOG_LINE_SIZE];
	unsigned int next;
} kept;

/* Names in a file of the user may contain anything. */
static void bpf_log_make_printable(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || (unsigned char)*line >= 0x7f)
			*line = *line == '\t' ? ' ' : '?';
}

static void bpf_log_keep_line(const char *line, size_t length)
{
	char *to;

	if (length == 0 || !strncmp(line, "-- ", 3) || !strncmp(line, "processed ", 10) ||
	    !strncmp(line, "libbpf: ", 8))
		return;
	to = kept.line[kept.next++ % LOG_LINES];
	snprintf(to, LOG_LINE_SIZE, "%.*s", (int)length, line);
	bpf_log_make_printable(to);
}

static int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[1 << 16];
	char *at = text;

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	while (*at) {
		size_t length = strcspn(at, "\n");

		bpf_log_keep_line(at, length);
		at += length + (at[length] == '\n');
	}
	return 0;
}

void bpf_log_init(void)
{
	libbpf_set_print(bpf_log_keep);
}

void bpf_log_start(void)
{
	memset(&kept, 0, sizeof(kept));
}

const char *bpf_log_last(void)
{
	static char last[LOG_LINES * (LOG_LINE_SIZE + 4) + 4];

	*last = '\0';
	for (unsigned int i = 0; i < LOG_LINES; i++) {
		const char *line = kept.line[(kept.next + i) % LOG_LINES];

		if (*line)
			snprintf(last + strlen(last), sizeof(last) - strlen(last), "%s%s",
				 *last ? " | " : " (", line);
	}
	if (*last)
		snprintf(last + strlen(last), sizeof(last) - strlen(last), ")");
	return last;
}
