/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/* One AF_XDP socket: of a slave's queue, over the handle's area. Knows no bond. */
#ifndef XBOND_XSK_XSK_PORT_H
#define XBOND_XSK_XSK_PORT_H

#include <linux/types.h>
#include <xdp/xsk.h>

#include "xbond/xsk.h"

/* The frames of a handle, and who has each. */
struct area {
	void *memory;
	__u32 frames, free_count, ring;
	__u32 *free;   /* numbers of those that nobody has */
	__u16 *holder; /* of each frame: the number of the port that has it, plus 1; 0: another */
};

struct port {
	struct xsk_umem *umem;
	struct xsk_socket *socket; /* NULL: not open */
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completed, rx;
	__u32 number, queue;
	__u32 filled; /* frames that the kernel has for receiving, or has received into */
	__u32 put,
		reaped; /* frames to be sent, and those that the kernel is done with; they wrap */
	/* By a device that has sent what came after them. For the caller of port_kick(). */
	__u32 dropped, dropped_bytes;
	int is_zero_copy;
};

/* Returns 0 or -errno. The area is registered with each socket, because the UMEM that several share
 * keeps the first one's device until all are closed. */
int port_open(struct port *port, struct area *area, __u32 ifindex, __u32 number, __u32 queue,
	      __u32 bind);
/* The frames that it still has are free again. */
void port_close(struct port *port, struct area *area);

/*
 * Returns whether the frame is in the ring. In zero-copy mode the ring keeps all frames that the
 * kernel has, so that port_frame_at() finds them.
 */
int port_put(struct port *port, struct area *area, void *data, __u32 length);
/* Gives the kernel frames to receive into, until it has `most`. */
void port_fill(struct port *port, struct area *area, __u32 most);
/* Not once its device was in another namespace: the kernel forgets the socket, without a word. */
int port_is_bound(const struct port *port);
/* Returns how many frames were received; they are nobody's any more. slot: for the frames. */
int port_receive(struct port *port, struct area *area, struct xbond_xsk_frame *frames, int most,
		 __u16 slot);
/* Frames that the kernel has dropped because there was no room for them. */
__u64 port_missed(const struct port *port);
/* Frames that the kernel is done with are free again. */
void port_reap(struct port *port, struct area *area);
/* Frames that the kernel has to send, or has sent and not said so; of port_reap()'s last time. */
static inline __u32 port_in_flight(const struct port *port)
{
	return port->put - port->reaped;
}

/* Frames of the ring that the kernel has not taken, or, in zero-copy mode, not sent. */
__u32 port_left(const struct port *port);
/*
 * Lets the kernel send what is in the ring, or as much as the device has room for. Returns how many
 * of the last ones in the ring have not left, because the device has no carrier or is down; their
 * memory stays as it is until somebody takes it. *ret_stuck: they are still in the ring. In
 * zero-copy mode the kernel says nothing of the carrier.
 */
__u32 port_kick(struct port *port, struct area *area, int *ret_stuck);
/* The frame that is `back` places from the end of the ring: 1 is the last one. */
void *port_frame_at(const struct port *port, const struct area *area, __u32 back,
		    __u32 *ret_length);

static inline void *area_at(const struct area *area, __u32 frame)
{
	return (char *)area->memory + (__u64)frame * XBOND_XSK_FRAME_SIZE;
}

static inline __u32 area_number(const struct area *area, const void *data)
{
	return (__u32)(((const char *)data - (const char *)area->memory) / XBOND_XSK_FRAME_SIZE);
}

/* Bytes from there to the end of the frame: what was received begins behind some headroom. */
static inline __u32 area_room(const struct area *area, const void *data)
{
	return XBOND_XSK_FRAME_SIZE -
	       (__u32)(((const char *)data - (const char *)area->memory) % XBOND_XSK_FRAME_SIZE);
}

static inline void area_free(struct area *area, __u32 frame)
{
	area->holder[frame] = 0;
	area->free[area->free_count++] = frame;
}

#endif
