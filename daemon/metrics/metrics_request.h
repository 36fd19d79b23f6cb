/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What headers of a request ask for. Bytes from outside; no I/O. */
#ifndef XBOND_DAEMON_METRICS_METRICS_REQUEST_H
#define XBOND_DAEMON_METRICS_METRICS_REQUEST_H

#include <stdbool.h>

#include "daemon/metrics/metrics_text.h"

/*
 * The header Accept; NULL: there is none. OpenMetrics is for those who name version 1.0.0 of it, or
 * no version, and do not like text/plain better.
 */
enum metrics_format metrics_request_format(const char *accept);

/*
 * The header Host; NULL: there is none. Is it an address, localhost, or a name whose first label is
 * that of hostname? A page of the web that has let its own name lead to our address (DNS rebinding)
 * has another one.
 */
bool metrics_request_is_for_us(const char *host, const char *hostname);

#endif
