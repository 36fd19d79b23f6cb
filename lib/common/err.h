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

/*
 * Keeps the last lines that libbpf prints while it loads something, which are the verifier's
 * message, for an error line. What libbpf refuses itself has no such message; then its own last
 * warning is kept. Nothing of libbpf goes to stderr.
 */

/* Called once, before anything else of libbpf. */
void bpf_log_init(void);
/* Forgets the lines so far. */
void bpf_log_start(void);
/* " (the last lines)", " (libbpf: its warning)", or "". Valid until the next call. */
const char *bpf_log_last(void);

#endif
