/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP programs of a bond: each is opened and loaded on its own when it is needed, over the
 * pinned maps of the bond. Knows maps, programs and links, not slaves.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_LOAD_H
#define XBOND_DAEMON_DATAPLANE_XDP_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum xdp_role {
	XDP_ROLE_RX,
	XDP_ROLE_RX_TAGS, /* for one device, whose VLAN tags it can see */
	XDP_ROLE_TX,
	XDP_ROLE_TX_ASKS, /* the same for a bond with a policy */
	XDP_ROLE_COUNT
};

#define XDP_RX_NAME "xbond_xdp_rx" /* the program of XDP_ROLE_RX */

struct bpf_object;
struct xdp_object;

/* The role on the port side of the bond with these pins, which may have a policy. */
enum xdp_role xdp_role_tx(const char *pin_dir);

/*
 * Opens one program over the bond's maps, without loading it; the code that attaches it decides how
 * it is loaded. pin_dir: the bond's. ifindex: for XDP_ROLE_RX_TAGS. port_ifindex: where
 * XDP_ROLE_RX* send frames; 0: set later (xdp_dispatcher.c).
 */
int xdp_object_open(struct xdp_object **ret_object, const char *pin_dir, enum xdp_role role,
		    int ifindex, uint32_t port_ifindex, struct err *err);
struct bpf_object *xdp_object_bpf(struct xdp_object *object);
/* Returns the descriptor of the loaded program, which the caller closes, or -errno. */
int xdp_object_load(struct xdp_object *object, struct err *err);
void xdp_object_close(struct xdp_object *object);

/*
 * Loads a program as xdp_object_open() has it, and attaches it to the device by a link, which is
 * pinned: alone, and native only, because generic XDP is slower than TC. A pin that is there
 * already is replaced. Returns 0, or -errno with the reason.
 */
int xdp_link_attach(const char *pin, const char *pin_dir, enum xdp_role role, int ifindex,
		    uint32_t port_ifindex, struct err *err);
/* False: there is none, or somebody has detached it. */
bool xdp_link_is_attached(const char *pin);

/* Identifies a loaded program: its instructions, and whether it works on the pinned maps there. */
struct xdp_identity {
	unsigned char tag[8];
	unsigned int shared_maps;
};
int xdp_object_identify(int program_fd, const char *pin_dir, struct xdp_identity *ret_identity);

/*
 * XDP on a slave beside programs of others: our program is one of those that libxdp's dispatcher
 * calls in turn. The dispatcher and its pins belong to libxdp. What is attached outlives bondd.
 */

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
