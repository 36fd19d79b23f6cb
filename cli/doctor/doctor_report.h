/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the doctor has found: filled by the checks, printed by cmd_doctor.c. */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_REPORT_H
#define XBOND_CLI_DOCTOR_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdbool.h>

enum doctor_severity {
	DOCTOR_NOTE,	/* good to know */
	DOCTOR_WARNING, /* works, but not as well or as safely as it could */
	DOCTOR_BAD,	/* something does not work, or will not work at the next failure */
	DOCTOR_SEVERITIES,
};

struct doctor_report {
	json_t *findings[DOCTOR_SEVERITIES]; /* arrays of objects, as `doctor -j` prints them */
	/* Of what is found next. NULL: it is not about one bond. */
	const char *check, *bond;
	json_t *last;
};

void doctor_report_init(struct doctor_report *report);
void doctor_report_done(struct doctor_report *report);

/*
 * A finding, as one line without a full stop; slave: NULL if it is not about one. Each is followed
 * by its advice.
 */
void doctor_found(struct doctor_report *report, enum doctor_severity severity, const char *slave,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Drops what is bad, unless it was found before, too: of the same bond, slave and check. */
void doctor_report_confirm(struct doctor_report *report, const struct doctor_report *before);

/* All findings, the worst first. A new reference. */
json_t *doctor_report_json(const struct doctor_report *report);

#endif
