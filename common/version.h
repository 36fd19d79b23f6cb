/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version as bondd and bondctl print it: the number, and the commit if the build knows it. */
#ifndef XBOND_COMMON_VERSION_H
#define XBOND_COMMON_VERSION_H

extern const char xbond_version[];

#endif
