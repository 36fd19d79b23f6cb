/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints all that is known of a bond as text for people. */
#ifndef XBOND_CLI_SHOW_TEXT_DETAILS_H
#define XBOND_CLI_SHOW_TEXT_DETAILS_H

#include "cli/show/see.h"

void text_details_bond(const struct seen *seen);

#endif
