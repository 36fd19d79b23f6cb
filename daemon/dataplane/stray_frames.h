/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hears frames that a slave keeps for itself though they are the bond's: somebody's filter has let
 * them pass for good, before the receive program. Sockets of the common protocols, bound to the
 * slave, which get nothing else.
 */
#ifndef XBOND_DAEMON_DATAPLANE_STRAY_FRAMES_H
#define XBOND_DAEMON_DATAPLANE_STRAY_FRAMES_H

#include <systemd/sd-event.h>

struct bond;
struct stray_frames;

typedef void (*stray_frames_handler)(struct bond *bond, unsigned int slot);

/*
 * NULL: it could not be made. One frame is no proof, nor is what comes in the first moment:
 * somebody may just be changing programs.
 */
struct stray_frames *stray_frames_new(sd_event *event, int ifindex, stray_frames_handler handler,
				      struct bond *bond, unsigned int slot);
/* Begins anew. */
void stray_frames_reset(struct stray_frames *strays);
/* NULL is none. */
void stray_frames_free(struct stray_frames *strays);

#endif
