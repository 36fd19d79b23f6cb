/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of the screen, by the cells that its characters take, and what stands in it in short. */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "cli/top/top.h"

void top_line_clear(struct top_line *line)
{
	*line = (struct top_line){ 0 };
}

static void top_line_put(struct top_line *line, const char *bytes, size_t length,
			 unsigned int width)
{
	if (line->length + length >= sizeof(line->text) || line->width + width > TOP_LINE_CELLS)
		return;
	memcpy(line->text + line->length, bytes, length);
	line->length += length;
	line->text[line->length] = '\0';
	line->width += width;
}

static void top_line_fill(struct top_line *line, unsigned int cells)
{
	while (cells--)
		top_line_put(line, " ", 1, 1);
}

/* The bytes of the next character, and its width; -1: it cannot be shown. */
static size_t top_line_next(const char *text, int *ret_width)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t length = mbrtowc(&wide, text, strlen(text), &state);

	*ret_width = -1;
	if (length == 0 || length > strlen(text))
		return 1;
	*ret_width = wcwidth(wide);
	return length;
}

unsigned int top_line_add_some(struct top_line *line, const char *text, unsigned int cells)
{
	unsigned int used = 0;

	while (*text) {
		int width;
		size_t length = top_line_next(text, &width);
		const char *bytes = width < 0 ? "?" : text;
		unsigned int takes = width < 0 ? 1 : (unsigned int)width;

		if (used + takes > cells)
			break;
		if (line)
			top_line_put(line, bytes, width < 0 ? 1 : length, takes);
		used += takes;
		text += length;
	}
	return used;
}

void top_line_add(struct top_line *line, const char *text, unsigned int cells, bool right)
{
	unsigned int used = top_line_add_some(NULL, text, cells);

	if (right)
		top_line_fill(line, cells - used);
	top_line_add_some(line, text, cells);
	if (!right)
		top_line_fill(line, cells - used);
}

/* How many bytes fit, and how many of them are whole words. */
static size_t top_line_measure(const char *text, unsigned int cells, size_t *ret_words)
{
	unsigned int used = 0;
	size_t at = 0;

	*ret_words = 0;
	while (text[at]) {
		int width;
		size_t length = top_line_next(text + at, &width);

		used += width < 0 ? 1 : (unsigned int)width;
		if (text[at] == ' ')
			*ret_words = at;
		if (used > cells)
			return at;
		at += length;
	}
	*ret_words = at;
	return at;
}

const char *top_line_add_words(struct top_line *line, const char *text, unsigned int cells)
{
	char part[sizeof(line->text)];
	size_t words, fit = top_line_measure(text, cells, &words);

	if (!words)
		words = fit ? fit : strlen(text);
	snprintf(part, sizeof(part), "%.*s", (int)words, text);
	top_line_add_some(line, part, cells);
	text += words;
	return text + strspn(text, " ");
}

static const char *const blocks_of[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_of[] = { " ", ".", ",", ":", "-", "=", "+", "*", "#" };

#define HEIGHTS (sizeof(blocks_of) / sizeof(blocks_of[0]) - 1)

static size_t top_line_height(double rate, double full)
{
	size_t height;

	if (rate <= 0 || full <= 0)
		return 0;
	if (rate >= full)
		return HEIGHTS;
	height = (size_t)(rate / full * HEIGHTS + 0.5);
	return height ? height : 1;
}

void top_line_add_spark(struct top_line *line, const double *rates, unsigned int cells, double full,
			bool blocks)
{
	const char *const *marks = blocks ? blocks_of : ascii_of;

	for (unsigned int i = 0; i < cells; i++) {
		const char *mark = marks[top_line_height(rates[i], full)];

		top_line_put(line, mark, strlen(mark), 1);
	}
}

const char *top_cells_rate(char ret_text[TOP_NUMBER_SIZE], double rate)
{
	static const char units[] = "\0kMGTPE";
	const char *unit = units;

	if (rate < 999.5) {
		snprintf(ret_text, TOP_NUMBER_SIZE, "%.0f", rate > 0 && rate < 1 ? 1 : rate);
		return ret_text;
	}
	while (rate >= 999.5 && unit[1]) {
		rate /= 1000;
		unit++;
	}
	snprintf(ret_text, TOP_NUMBER_SIZE, "%.*f%c",
		 rate < 9.995	? 2
		 : rate < 99.95 ? 1
				: 0,
		 rate, *unit);
	return ret_text;
}

const char *top_cells_share(char ret_text[TOP_NUMBER_SIZE], double share)
{
	double percent = share * 100;

	snprintf(ret_text, TOP_NUMBER_SIZE, "%.*f%%", percent > 0 && percent < 99.95 ? 1 : 0,
		 percent);
	return ret_text;
}
