/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other network namespaces of this machine, as far as a process or a name in /run/netns leads
 * there.
 */
#ifndef XBOND_DAEMON_NET_NAMESPACES_H
#define XBOND_DAEMON_NET_NAMESPACES_H

#include "daemon/net/nl.h"

/*
 * Calls visit once within each, with the descriptor of the caller's own. The calling thread, which
 * must not be the main one, is there meanwhile.
 */
void namespaces_visit(void (*visit)(int home_fd, void *arg), void *arg);
/* What the namespace of nl calls that of fd; -1: nothing. */
int namespaces_number(struct nl *nl, int fd);

#endif
