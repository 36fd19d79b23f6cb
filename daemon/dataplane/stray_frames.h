/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notices frames that stay on a slave although they belong to the bond: somebody's filter in front
 * of the receive program has let them pass for good. It uses sockets of the common protocols, bound
 * to the slave. Normally they receive nothing.
 */
#ifndef XBOND_DAEMON_DATAPLANE_STRAY_FRAMES_H
#define XBOND_DAEMON_DATAPLANE_STRAY_FRAMES_H

#include <systemd/sd-event.h>

struct bond;
struct stray_frames;

typedef void (*stray_frames_handler)(struct bond *bond, unsigned int slot);

/*
 * Returns NULL on failure. One frame is no proof. Nor are frames in the first moment, when somebody
 * may just be changing programs.
 */
struct stray_frames *stray_frames_new(sd_event *event, int ifindex, stray_frames_handler handler,
				      struct bond *bond, unsigned int slot);
/* Begins anew. */
void stray_frames_reset(struct stray_frames *strays);
/* NULL is none. */
void stray_frames_free(struct stray_frames *strays);

#endif
