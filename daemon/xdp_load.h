/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the XDP programs of a bond: each by itself, when it is needed, over the maps that
 * the bond has pinned. Knows maps and programs, not devices.
 */
#ifndef XBOND_DAEMON_XDP_LOAD_H
#define XBOND_DAEMON_XDP_LOAD_H

#include "common/err.h"

enum xdp_program {
	XDP_PROGRAM_RX,
	XDP_PROGRAM_RX_TAGS, /* for one device, whose VLAN tags it can see */
	XDP_PROGRAM_TX,
};

/*
 * pin_dir: the bond's. Makes and pins the devmaps if they are not there. ifindex: for
 * XDP_PROGRAM_RX_TAGS. Returns the program's descriptor, the caller's to close, or -errno.
 */
int xdp_load(const char *pin_dir, enum xdp_program program, int ifindex, struct err *err);

#endif
