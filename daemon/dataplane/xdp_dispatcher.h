/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XDP on a slave beside programs of others: our program is one of those that libxdp's dispatcher
 * calls in turn. The dispatcher and its pins belong to libxdp. What is attached outlives bondd.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_H
#define XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/dataplane/xdp_load.h"

/*
 * Adds XDP_ROLE_RX to the device's dispatcher, which is made if there is none; pin_dir as for
 * xdp_object_open(). The program passes everything until xdp_dispatcher_open(). Native XDP only.
 * -EOPNOTSUPP: this kernel has no freplace, or the driver no XDP; -EBUSY: the attached program is
 * not a dispatcher, or it is a generic one. Every function here may return -ENOLCK (another program
 * holds libxdp's lock, nothing was done) and -ETIMEDOUT (nobody knows what was done).
 */
int xdp_dispatcher_add(const char *pin_dir, int ifindex, struct err *err);
/* From now on the program hands frames to the port side. -ENOENT: it is not there. */
int xdp_dispatcher_open(int ifindex, uint32_t port_ifindex);
/* Removes our program, if it is there; programs of others stay. Returns 0 or -errno. */
int xdp_dispatcher_remove(int ifindex);
/*
 * Replaces another build's program of ours, which stays until this one is there. Returns 0 also if
 * there is none.
 */
int xdp_dispatcher_upgrade(const char *pin_dir, int ifindex, uint32_t port_ifindex,
			   const struct xdp_identity *identity, struct err *err);
/* Returns 1 or 0, or -errno if this cannot be found out. */
int xdp_dispatcher_has(int ifindex);

/*
 * A receive program of XDP hands frames to the port side when its own devmap names the port side.
 * Until then it lets everything pass to TC. So it can be attached before anything else is changed
 * on the NIC.
 */

/*
 * For a loaded program. Can be repeated without harm. Returns 0 or -errno; -ENOENT: it has no such
 * map.
 */
int xdp_gate_open(int program_fd, uint32_t port_ifindex);
/* For the program of a pinned link. */
int xdp_gate_open_link(const char *pin, uint32_t port_ifindex);

/*
 * Removes libxdp's pins of our program in a dispatcher when libxdp itself cannot remove the
 * program: the device is gone or in another namespace, or somebody died between two of libxdp's
 * steps. Without its pins our program stops, and those of others in the dispatcher go on. Knows
 * libxdp's names of pins, and nothing of devices.
 */

/*
 * Removes our pins of dispatchers of a device that has or had this ifindex. Our pins are those of
 * programs that use the map map_fd, because another namespace may have a device with that number.
 * Returns true if a dispatcher without any program is left.
 */
bool xdp_dispatcher_pins_remove(int ifindex, int map_fd);

#endif
