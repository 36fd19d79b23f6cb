/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other network namespaces of this machine to which a process or a name in /run/netns leads. */
#ifndef XBOND_NETWORK_NAMESPACES_H
#define XBOND_NETWORK_NAMESPACES_H

#include "network/nl.h"

/*
 * Calls visit once in each, with the descriptor of the caller's own namespace. During the call the
 * calling thread, which must not be the main one, is in that namespace.
 */
void namespaces_visit(void (*visit)(int home_fd, void *arg), void *arg);
/* The number that the namespace of nl has for the namespace of fd; -1: none. */
int namespaces_number(struct nl *nl, int fd);

#endif
