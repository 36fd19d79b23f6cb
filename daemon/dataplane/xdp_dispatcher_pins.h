/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libxdp's pins of our program in a dispatcher, where libxdp itself cannot take it out: the
 * device is gone or in another namespace, or somebody died between two of its steps. Without
 * its pins the program stops, and those of others in the dispatcher go on. Knows libxdp's
 * names of pins and nothing of devices.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_PINS_H
#define XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_PINS_H

#include <stdbool.h>

/*
 * Removes our pins of dispatchers of a device that is or was `ifindex`. Ours are those of programs
 * that use the map map_fd: another namespace may have a device of that number. True: a dispatcher
 * is left that has no program any more.
 */
bool xdp_dispatcher_pins_remove(int ifindex, int map_fd);

#endif
