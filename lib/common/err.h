/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fails, in words for the user. */
#ifndef XBOND_COMMON_ERR_H
#define XBOND_COMMON_ERR_H

/*
 * One clear line of error text for the user: what, why, what to do. A function takes a struct err
 * if it can fail for a reason that the user must read, and returns what err_set() returned. The
 * caller that can reach the user prints the line once.
 */

struct err {
	char text[1024];
};

/* Returns -code, so that a caller can write `return err_set(err, ENOENT, ...)`. err may be NULL. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
