/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LACP thread has news: evaluates the bonds that it speaks for. */
#ifndef XBOND_DAEMON_BOND_LACP_NEWS_H
#define XBOND_DAEMON_BOND_LACP_NEWS_H

struct daemon;

/* When lacp_thread_fd() is readable. */
void lacp_news_take(struct daemon *daemon);

#endif
