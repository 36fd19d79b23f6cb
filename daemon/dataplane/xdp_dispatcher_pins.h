/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes libxdp's pins of our program in a dispatcher when libxdp itself cannot remove the
 * program: the device is gone or in another namespace, or somebody died between two of libxdp's
 * steps. Without its pins our program stops, and those of others in the dispatcher go on. Knows
 * libxdp's names of pins, and nothing of devices.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_PINS_H
#define XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_PINS_H

#include <stdbool.h>

/*
 * Removes our pins of dispatchers of a device that has or had this ifindex. Our pins are those of
 * programs that use the map map_fd, because another namespace may have a device with that number.
 * Returns true if a dispatcher without any program is left.
 */
bool xdp_dispatcher_pins_remove(int ifindex, int map_fd);

#endif
