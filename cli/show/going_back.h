/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond that waits for `bondctl confirm`. The maps do not have that; bondd has a file of it. */
#ifndef XBOND_CLI_SHOW_GOING_BACK_H
#define XBOND_CLI_SHOW_GOING_BACK_H

#include "common/paths.h"

/* Seconds until the bond goes back, rounded up; 0: it does not, or nobody may know. */
unsigned int going_back_s(const struct paths *paths, const char *bond);

#endif
