/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka, with what has to stand before it. Every unit test includes this. */
#ifndef XBOND_TESTS_UNIT_UNIT_H
#define XBOND_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
