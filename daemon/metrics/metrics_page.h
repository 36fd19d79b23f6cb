/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the page in daemon/metrics/page/, as they are there. */
#ifndef XBOND_DAEMON_METRICS_METRICS_PAGE_H
#define XBOND_DAEMON_METRICS_METRICS_PAGE_H

extern const char metrics_page_html[], metrics_page_style[], metrics_page_script[];

#endif
