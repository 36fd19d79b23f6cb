/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others have done to a slave, in words: `problem` in JSON, and what `doctor` finds. */
#ifndef XBOND_VIEW_VIEW_PROBLEM_H
#define XBOND_VIEW_VIEW_PROBLEM_H

#include <stdint.h>

struct view_problem {
	uint32_t trouble; /* one of XBOND_TROUBLE_* */
	const char *sentence;
};

/* The same sentence for every verb that shows bonds to people. */
extern const char view_problem_no_bondd[];
extern const char view_problem_detached_bond[];
extern const char view_problem_detached_slave[];

/* The i-th one; NULL behind the last. */
const struct view_problem *view_problem_at(unsigned int i);

#endif
