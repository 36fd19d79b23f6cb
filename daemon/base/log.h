/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints lines to stderr; under systemd, with the journal's priority in front. Called by all of
 * bondd, from any thread.
 */
#ifndef XBOND_DAEMON_BASE_LOG_H
#define XBOND_DAEMON_BASE_LOG_H

#include <syslog.h>

void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)

#endif
