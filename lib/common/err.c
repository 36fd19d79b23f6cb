/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/err.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -code;
}

/* What libbpf prints. */

#define LOG_LINES 3
#define LOG_LINE_SIZE 160

static struct {
	char line[LOG_LINES][LOG_LINE_SIZE];
	unsigned int next;
	char warning[LOG_LINE_SIZE]; /* of libbpf itself */
} kept;

/* Names in a file of the user may contain anything. */
static void bpf_log_make_printable(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || (unsigned char)*line >= 0x7f)
			*line = *line == '\t' ? ' ' : '?';
}

static void bpf_log_set_line(char to[LOG_LINE_SIZE], const char *line, size_t length)
{
	snprintf(to, LOG_LINE_SIZE, "%.*s", (int)length, line);
	bpf_log_make_printable(to);
}

static bool bpf_log_has(const char *line, size_t length, const char *words)
{
	return memmem(line, length, words, strlen(words));
}

/* That something failed is known from the error; these lines say no more. */
static void bpf_log_keep_warning(const char *line, size_t length)
{
	if (!bpf_log_has(line, length, "failed to load") &&
	    !bpf_log_has(line, length, "load failed") && !bpf_log_has(line, length, " LOG --"))
		bpf_log_set_line(kept.warning, line, length);
}

static void bpf_log_keep_line(enum libbpf_print_level level, const char *line, size_t length)
{
	if (length == 0 || !strncmp(line, "-- ", 3) || !strncmp(line, "processed ", 10))
		return;
	if (strncmp(line, "libbpf: ", 8) != 0)
		bpf_log_set_line(kept.line[kept.next++ % LOG_LINES], line, length);
	else if (bpf_log_has(line, length, "BTF is optional, ignoring"))
		bpf_log_start(); /* the lines before are about that */
	else if (level == LIBBPF_WARN)
		bpf_log_keep_warning(line, length);
}

/* The verifier's whole log comes at once. It may have megabytes, and the reason is at its end. */
static int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *at;

	if (level == LIBBPF_DEBUG)
		return 0;
	text = memory_text_of(format, args);
	for (at = text; *at;) {
		size_t length = strcspn(at, "\n");

		bpf_log_keep_line(level, at, length);
		at += length + (at[length] == '\n');
	}
	free(text);
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
	if (!*last && *kept.warning)
		snprintf(last, sizeof(last), " (%s", kept.warning);
	if (*last)
		snprintf(last + strlen(last), sizeof(last) - strlen(last), ")");
	return last;
}
