/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/doctor/doctor_report.h"

#include <stdarg.h>
#include <stdio.h>

#include "view/json_value.h"

#define LINE_SIZE 1024

void doctor_report_init(struct doctor_report *report)
{
	*report = (struct doctor_report){ 0 };
	for (int i = 0; i < DOCTOR_SEVERITIES; i++)
		report->findings[i] = json_array();
}

void doctor_report_done(struct doctor_report *report)
{
	for (int i = 0; i < DOCTOR_SEVERITIES; i++)
		json_decref(report->findings[i]);
}

static json_t *report_name(const char *name)
{
	return name ? json_value_text(name) : json_null();
}

static void report_set_line(json_t *finding, const char *key, const char *format, va_list words)
{
	char line[LINE_SIZE];

	vsnprintf(line, sizeof(line), format, words);
	json_object_set_new(finding, key, json_value_text(line));
}

void doctor_found(struct doctor_report *report, enum doctor_severity severity, const char *slave,
		  const char *format, ...)
{
	static const char *const names[] = {
		[DOCTOR_NOTE] = "note",
		[DOCTOR_WARNING] = "warning",
		[DOCTOR_BAD] = "bad",
	};
	va_list words;

	report->last = json_object();
	json_object_set_new(report->last, "bond", report_name(report->bond));
	json_object_set_new(report->last, "slave", report_name(slave));
	json_object_set_new(report->last, "check", json_string(report->check));
	json_object_set_new(report->last, "severity", json_string(names[severity]));
	va_start(words, format);
	report_set_line(report->last, "finding", format, words);
	va_end(words);
	json_array_append_new(report->findings[severity], report->last);
}

void doctor_advise(struct doctor_report *report, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	report_set_line(report->last, "advice", format, words);
	va_end(words);
}

static bool report_is_same(const json_t *finding, const json_t *other)
{
	static const char *const keys[] = { "bond", "slave", "check" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!json_equal(json_object_get(finding, keys[i]), json_object_get(other, keys[i])))
			return false;
	return true;
}

static bool report_has(const json_t *findings, const json_t *finding)
{
	const json_t *other;
	size_t at;

	json_array_foreach (findings, at, other)
		if (report_is_same(finding, other))
			return true;
	return false;
}

void doctor_report_confirm(struct doctor_report *report, const struct doctor_report *before)
{
	json_t *bad = report->findings[DOCTOR_BAD];

	for (size_t at = json_array_size(bad); at-- > 0;)
		if (!report_has(before->findings[DOCTOR_BAD], json_array_get(bad, at)))
			json_array_remove(bad, at);
}

json_t *doctor_report_json(const struct doctor_report *report)
{
	json_t *all = json_array();

	for (int i = DOCTOR_SEVERITIES - 1; i >= 0; i--)
		json_array_extend(all, report->findings[i]);
	return all;
}
