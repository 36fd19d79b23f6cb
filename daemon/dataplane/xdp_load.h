/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP programs of a bond: each is opened and loaded on its own when it is needed, over the
 * pinned maps of the bond. Knows maps and programs, not devices.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_LOAD_H
#define XBOND_DAEMON_DATAPLANE_XDP_LOAD_H

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
 * XDP_ROLE_RX* send frames; 0: set later (xdp_dispatcher.h).
 */
int xdp_object_open(struct xdp_object **ret_object, const char *pin_dir, enum xdp_role role,
		    int ifindex, uint32_t port_ifindex, struct err *err);
struct bpf_object *xdp_object_bpf(struct xdp_object *object);
/* Returns the descriptor of the loaded program, which the caller closes, or -errno. */
int xdp_object_load(struct xdp_object *object, struct err *err);
void xdp_object_close(struct xdp_object *object);

/* Identifies a loaded program: its instructions, and whether it works on the pinned maps there. */
struct xdp_identity {
	unsigned char tag[8];
	unsigned int shared_maps;
};
int xdp_object_identify(int program_fd, const char *pin_dir, struct xdp_identity *ret_identity);

#endif
