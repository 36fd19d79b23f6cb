/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody may have meant who wrote a name that no option has. For messages only. */
#ifndef XBOND_OPTIONS_OPTION_GUESS_H
#define XBOND_OPTIONS_OPTION_GUESS_H

#include "options/options.h"

/* The name of the option that is most like it; NULL: none is nearly like it. */
const char *option_guess(enum option_scope scope, const char *name);

#endif
