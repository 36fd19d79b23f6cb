/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slave's XDP beside that of others: our program as one of those that libxdp's dispatcher
 * calls in turn. The dispatcher and its pins are libxdp's; what is attached outlives bondd.
 */
#ifndef XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_H
#define XBOND_DAEMON_DATAPLANE_XDP_DISPATCHER_H

#include <stdint.h>

#include "common/err.h"
#include "daemon/dataplane/xdp_load.h"

/*
 * Adds XDP_ROLE_RX to the device's dispatcher, which is made if there is none; pin_dir as for
 * xdp_object_open(). It passes everything until xdp_dispatcher_open(). Native XDP only.
 * -EOPNOTSUPP: this kernel has no freplace, or the driver no XDP; -EBUSY: what is attached there is
 * no dispatcher, or a generic one. Of all of these: -ENOLCK, another program keeps libxdp's lock
 * and nothing was done; -ETIMEDOUT, nobody knows what was.
 */
int xdp_dispatcher_add(const char *pin_dir, int ifindex, struct err *err);
/* From now on it hands frames to the port side. -ENOENT: it is not there. */
int xdp_dispatcher_open(int ifindex, uint32_t port_ifindex);
/* Takes it out again, if it is there; the programs of others stay. 0 or -errno. */
int xdp_dispatcher_remove(int ifindex);
/*
 * In place of one of ours that is another, which stays until this one is there; 0 also where none
 * is.
 */
int xdp_dispatcher_upgrade(const char *pin_dir, int ifindex, uint32_t port_ifindex,
			   const struct xdp_identity *identity, struct err *err);
/* 1 or 0; -errno where that cannot be found out. */
int xdp_dispatcher_has(int ifindex);

#endif
