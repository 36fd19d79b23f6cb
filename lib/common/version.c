/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The version. The Makefile defines XBOND_VERSION for this file alone, so that a new commit
 * compiles nothing else anew.
 */
#include "common/paths.h"

const char xbond_version[] = XBOND_VERSION;
