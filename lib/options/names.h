/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users write: names that a bond or a slave may have, what a wrong word may mean, and options
 * that xbond does not have.
 */
#ifndef XBOND_OPTIONS_NAMES_H
#define XBOND_OPTIONS_NAMES_H

#include <jansson.h>
#include <stdbool.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "options/options.h"

/*
 * Which names a bond or a slave may have: names of network devices that are also
 * safe as a file name below BPF_DIR and CONFIG_DIR. Used by bondd and bondctl.
 */

/* what: "bond" or "slave", for the line in err. Returns 0 or -EINVAL. */
int name_check(const char *what, const char *name, struct err *err);
/*
 * For files of bondd's own, in which no name may get lost: JSON takes UTF-8 only, and the kernel
 * takes any bytes as the name of a device. What is no UTF-8 is written as one character for each
 * byte, behind a mark. Other text is written as it is.
 */
json_t *name_to_json(const char *text);
/* Returns false if it is no text, or longer than a name. */
bool name_from_json(const json_t *json, char ret_name[XBOND_NAME_SIZE]);

/*
 * Answers to users who mistype or know other tools: what a word may mean, and options that xbond
 * does not have.
 */

/* What somebody may have meant who wrote a word that does not exist. For messages only. */

struct guess {
	const char *word; /* what was written */
	const char *best; /* the candidate that is most like it; NULL: none is nearly like it */
	unsigned int distance; /* of best */
};

/* Begin with { .word = WORD } and offer every word that exists. They outlive the guess. */
void guess_offer(struct guess *guess, const char *candidate);

/*
 * Answers to what users write who know other tools, or mistype: options that xbond does not have,
 * and what an unknown name or value may mean. For messages only.
 */

#define OPTION_ABSENT_CARRIER "xbond takes carrier from the kernel, never from MII registers"
#define OPTION_ABSENT_MODULE "it is a parameter of the kernel's module, which xbond does not use"

/* Why xbond does not have this option of others, and what to do; NULL if it is not one. */
const char *option_absent(const char *name);

/* The name of the option that is most like it; NULL: none is nearly like it. */
const char *option_guess(enum option_scope scope, const char *name);

/* To a line that refuses this value, appends the one that may be meant, if there is one. */
void option_guess_value(const struct option_spec *option, const char *text, struct err *err);

#endif
