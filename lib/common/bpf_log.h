/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the last lines that libbpf prints while it loads something, which are the verifier's
 * message, for an error line. What libbpf refuses itself has no such message; then its own last
 * warning is kept. Nothing of libbpf goes to stderr.
 */
#ifndef XBOND_COMMON_BPF_LOG_H
#define XBOND_COMMON_BPF_LOG_H

/* Called once, before anything else of libbpf. */
void bpf_log_init(void);
/* Forgets the lines so far. */
void bpf_log_start(void);
/* " (the last lines)", " (libbpf: its warning)", or "". Valid until the next call. */
const char *bpf_log_last(void);

#endif
