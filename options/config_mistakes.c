/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

static bool config_mistakes_has(const struct config_mistakes *mistakes, struct config_place place)
{
	for (size_t i = 0; i < mistakes->count; i++)
		if (place.line && mistakes->list[i].line == place.line &&
		    mistakes->list[i].file == place.file && !mistakes->list[i].is_warning)
			return true;
	return false;
}

/* What a file contains could steer the terminal that it is printed on. */
static void config_mistakes_tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void config_mistakes_put(struct config_mistakes *mistakes, struct config_place place,
				bool is_warning, const char *why)
{
	struct config_mistake mistake = { .file = place.file,
					  .line = place.line,
					  .path_length = strlen(place.path),
					  .is_warning = is_warning };
	char text[CONFIG_MISTAKE_SIZE];

	if (config_mistakes_has(mistakes, place))
		return;
	mistakes->errors += !is_warning;
	if (place.line)
		snprintf(text, sizeof(text), "%s:%d: %s", place.path, place.line, why);
	else
		snprintf(text, sizeof(text), "%s: %s", place.path, why);
	if (mistake.path_length < sizeof(text))
		config_mistakes_tame(text + mistake.path_length);
	if (mistakes->count < CONFIG_MISTAKES_MAX)
		mistake.text = memory_need(strdup(text));
	if (mistake.text)
		mistakes->list[mistakes->count++] = mistake;
	else
		mistakes->left_out++;
}

void config_mistakes_add(struct config_mistakes *mistakes, struct config_place place,
			 const char *why)
{
	config_mistakes_put(mistakes, place, false, why);
}

void config_mistakes_warn(struct config_mistakes *mistakes, struct config_place place,
			  const char *format, ...)
{
	char why[CONFIG_MISTAKE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	config_mistakes_put(mistakes, place, true, why);
}

static int config_mistakes_compare(const void *a, const void *b)
{
	const struct config_mistake *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->line - other->line;
}

void config_mistakes_sort(struct config_mistakes *mistakes)
{
	qsort(mistakes->list, mistakes->count, sizeof(mistakes->list[0]), config_mistakes_compare);
}

const char *config_mistake_why(const struct config_mistake *mistake)
{
	const char *behind = mistake->text + mistake->path_length;
	const char *why = strstr(behind, ": ");

	return why ? why + 2 : mistake->text;
}

int config_mistakes_first(const struct config_mistakes *mistakes, int code, struct err *err)
{
	for (size_t i = 0; i < mistakes->count; i++)
		if (!mistakes->list[i].is_warning)
			return err_set(err, code, "%s", mistakes->list[i].text);
	return err_set(
		err, code,
		"there are mistakes behind %zu warnings, and no more are listed; mend what the "
		"warnings name first",
		mistakes->count);
}

void config_mistakes_free(struct config_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		free(mistakes->list[i].text);
	*mistakes = (struct config_mistakes){ 0 };
}
