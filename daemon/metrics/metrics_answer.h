/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer to each request: a table of paths. What is made from the bonds is kept for a moment,
 * so many readers cost as much as one.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_ANSWER_H
#define XBOND_DAEMON_METRICS_METRICS_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "common/paths.h"
#include "daemon/metrics/metrics_text.h"

struct metrics_answers;

struct metrics_ask {
	const char *path;
	enum metrics_format format;
	bool may_read;	/* by its method */
	bool is_for_us; /* by its header Host */
};

struct metrics_answers *metrics_answers_new(const struct paths *paths);
/* No response of it may be in use. */
void metrics_answers_free(struct metrics_answers *answers);

/* It stays the property of answers. NULL: it cannot be made. */
struct MHD_Response *metrics_answers_find(struct metrics_answers *answers,
					  const struct metrics_ask *ask, unsigned int *ret_status);
/* Gives back what is kept for nothing. Returns whether anything is left. */
bool metrics_answers_rest(struct metrics_answers *answers);

#endif
