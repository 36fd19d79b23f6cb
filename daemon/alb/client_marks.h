/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose IP addresses may have clients. If bond0, or a VLAN on it, is a port of a bridge, machines
 * behind the bridge can send with bond0's MAC address. Then bondd marks the addresses of this host
 * in the map of clients, and the programs take no others. Called by client_rounds.c.
 */
#ifndef XBOND_DAEMON_ALB_CLIENT_MARKS_H
#define XBOND_DAEMON_ALB_CLIENT_MARKS_H

#include "daemon/bond/bond.h"

/*
 * Brings the marks up to date and removes the clients that must not be. Returns 1 if only marked
 * addresses may have clients, 0 if all may, or -errno.
 */
int client_marks_follow(struct bond *bond, uint64_t now_ns);

#endif
