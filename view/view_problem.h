/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others have done to a slave, in words: `problem` in JSON, and what `doctor` finds. */
#ifndef XBOND_VIEW_VIEW_PROBLEM_H
#define XBOND_VIEW_VIEW_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

struct view_problem {
	uint32_t trouble; /* one of XBOND_TROUBLE_* */
	const char *sentence;
};

/* It is not there; and: it is there, or was within 3 s, but is stuck or serves other bonds. */
#define VIEW_BONDD_STOPPED "bondd is not running"
#define VIEW_BONDD_SILENT "bondd does not answer"

/* Whether bondd serves a bond, as far as others can tell. */
enum view_bondd { VIEW_BONDD_IS_HERE, VIEW_BONDD_IS_STOPPED, VIEW_BONDD_IS_SILENT };

/* What is told of a bond that bondd does not serve; NULL: it does. has_carrier: the bond has. */
const char *view_problem_bondd(enum view_bondd bondd, bool has_carrier);

/* The same sentence for every verb that shows bonds to people. */
extern const char view_problem_detached_bond[];
extern const char view_problem_detached_slave[];

/* The i-th one; NULL behind the last. */
const struct view_problem *view_problem_at(unsigned int i);

#endif
