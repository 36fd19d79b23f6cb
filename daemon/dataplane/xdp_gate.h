/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A receive program of XDP hands frames to the port side when its own devmap names the port side.
 * Until then it lets everything pass to TC. So it can be attached before anything else is changed
 * on the NIC.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_GATE_H
#define XBOND_DAEMON_DATAPLANE_XDP_GATE_H

#include <stdint.h>

/*
 * For a loaded program. Can be repeated without harm. Returns 0 or -errno; -ENOENT: it has no such
 * map.
 */
int xdp_gate_open(int program_fd, uint32_t port_ifindex);
/* For the program of a pinned link. */
int xdp_gate_open_link(const char *pin, uint32_t port_ifindex);

#endif
