/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to what users write who know other tools, or mistype: options that xbond does not have,
 * and what an unknown name or value may mean. For messages only.
 */
#ifndef XBOND_OPTIONS_OPTION_ABSENT_H
#define XBOND_OPTIONS_OPTION_ABSENT_H

#include "options/options.h"

#define OPTION_ABSENT_CARRIER \
	"xbond asks the kernel for carrier, and never the registers of the MII"
#define OPTION_ABSENT_MODULE "it is a parameter of the kernel's module, which xbond does not use"

/* Why xbond does not have this option of others, and what to do; NULL if it is not one. */
const char *option_absent(const char *name);

/* The name of the option that is most like it; NULL: none is nearly like it. */
const char *option_guess(enum option_scope scope, const char *name);

/* To a line that refuses this value, appends the one that may be meant, if there is one. */
void option_guess_value(const struct option_spec *option, const char *text, struct err *err);

#endif
