/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libxdp pinned for a dispatcher stays in bpffs when the device goes, and holds programs
 * and maps. Called when a slave has gone; knows libxdp's names of pins and nothing of devices.
 */
#ifndef XBOND_DAEMON_XDP_DISPATCHER_PINS_H
#define XBOND_DAEMON_XDP_DISPATCHER_PINS_H

/*
 * Removes the pins of the dispatcher of a device that was `ifindex` and is gone. Another
 * namespace may have a device of that number: only where a program uses the map map_fd.
 */
void xdp_dispatcher_pins_remove(int ifindex, int map_fd);

#endif
