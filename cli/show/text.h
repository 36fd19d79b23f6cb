/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the objects of view/ as text for people. */
#ifndef XBOND_CLI_SHOW_TEXT_H
#define XBOND_CLI_SHOW_TEXT_H

#include "cli/show/see.h"

/* What is wrong, then a table of the slaves, and the options that are not at their defaults. */
void text_bond(const struct seen *seen);

#endif
