/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include "xsk/xsk_port.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

/* A call sends 32 frames at most; more calls than this mean that the device takes none. */
#define PORT_TURNS(ring) (2 * (ring) + 64)

/*
 * A zero-copy queue receives into no buffers but those that it was given, also what is for the
 * bond. So this is at most half of them: a program that stands still does not stop the bond.
 */
static __u32 port_most_received(const struct area *area)
{
	return area->ring < 4 ? 1 : area->ring / 4;
}

int port_open(struct port *port, struct area *area, __u32 ifindex, __u32 number, __u32 queue,
	      __u32 bind)
{
	const struct xsk_umem_config umem = { .fill_size = area->ring,
					      .comp_size = area->ring,
					      .frame_size = XBOND_XSK_FRAME_SIZE };
	const struct xsk_socket_config socket = {
		.rx_size = bind & XDP_ZEROCOPY ? port_most_received(area) : area->ring,
		.tx_size = area->ring,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (__u16)(bind | XDP_USE_NEED_WAKEUP),
	};
	char name[IF_NAMESIZE];
	int r;

	memset(port, 0, sizeof(*port));
	if (!if_indextoname(ifindex, name))
		return -ENODEV;
	r = xsk_umem__create(&port->umem, area->memory, (__u64)area->frames * XBOND_XSK_FRAME_SIZE,
			     &port->fill, &port->completed, &umem);
	if (r)
		return r == -ENOBUFS ? -ENOMEM : r; /* more than RLIMIT_MEMLOCK */
	r = xsk_socket__create(&port->socket, name, queue, port->umem, &port->rx, &port->tx,
			       &socket);
	if (r) {
		port->socket = NULL;
		xsk_umem__delete(port->umem);
		return r;
	}
	port->number = number;
	port->queue = queue;
	port->is_zero_copy = !!(bind & XDP_ZEROCOPY);
	return 0;
}

void port_close(struct port *port, struct area *area)
{
	if (!port->socket)
		return;
	xsk_socket__delete(port->socket);
	xsk_umem__delete(port->umem);
	port->socket = NULL;
	for (__u32 frame = 0; frame < area->frames; frame++)
		if (area->holder[frame] == port->number + 1)
			area_free(area, frame);
}

int port_put(struct port *port, struct area *area, void *data, __u32 length)
{
	__u32 at;

	if (port->is_zero_copy && port_in_flight(port) == area->ring) {
		port_reap(port, area);
		if (port_in_flight(port) == area->ring)
			return 0;
	}
	if (xsk_ring_prod__reserve(&port->tx, 1, &at) != 1)
		return 0;
	*xsk_ring_prod__tx_desc(&port->tx, at) =
		(struct xdp_desc){ .addr = (__u64)((char *)data - (char *)area->memory),
				   .len = length };
	xsk_ring_prod__submit(&port->tx, 1);
	port->put++;
	area->holder[area_number(area, data)] = (__u16)(port->number + 1);
	return 1;
}

/* Without zero copy some stay free, for sending and for further ports. */
static void port_add_to_fill(struct port *port, struct area *area, __u32 most)
{
	__u32 room = port->is_zero_copy ? area->free_count : (area->free_count + 1) / 2;
	__u32 at, count = most > port->filled ? most - port->filled : 0;

	if (count > room)
		count = room;
	if (!count || xsk_ring_prod__reserve(&port->fill, count, &at) != count)
		return;
	for (__u32 i = 0; i < count; i++) {
		__u32 frame = area->free[--area->free_count];

		area->holder[frame] = (__u16)(port->number + 1);
		*xsk_ring_prod__fill_addr(&port->fill, at + i) =
			(__u64)frame * XBOND_XSK_FRAME_SIZE;
	}
	xsk_ring_prod__submit(&port->fill, count);
	port->filled += count;
}

void port_fill(struct port *port, struct area *area, __u32 most)
{
	port_add_to_fill(port, area, most);
	if (port->is_zero_copy && xsk_ring_prod__needs_wakeup(&port->fill))
		recvfrom(xsk_socket__fd(port->socket), NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

int port_receive(struct port *port, struct area *area, struct xbond_xsk_frame *frames, int most,
		 __u16 slot)
{
	__u32 at, count;

	if (port->is_zero_copy) {
		int spare = (int)(port->filled + area->free_count - 2 * port_most_received(area));

		most = spare < most ? spare : most;
	}
	count = most > 0 ? xsk_ring_cons__peek(&port->rx, (__u32)most, &at) : 0;
	for (__u32 i = 0; i < count; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&port->rx, at + i);

		frames[i] = (struct xbond_xsk_frame){ .data = (char *)area->memory + desc->addr,
						      .length = desc->len,
						      .slot = slot };
		area->holder[area_number(area, frames[i].data)] = 0;
	}
	if (count)
		xsk_ring_cons__release(&port->rx, count);
	port->filled -= count;
	return (int)count;
}

int port_is_bound(const struct port *port)
{
	int error = 0;
	socklen_t length = sizeof(error);

	getsockopt(xsk_socket__fd(port->socket), SOL_SOCKET, SO_ERROR, &error, &length);
	return error != ENETDOWN;
}

__u64 port_missed(const struct port *port)
{
	struct xdp_statistics statistics;
	socklen_t length = sizeof(statistics);

	if (getsockopt(xsk_socket__fd(port->socket), SOL_XDP, XDP_STATISTICS, &statistics, &length))
		return 0;
	return statistics.rx_dropped + statistics.rx_ring_full;
}

void port_reap(struct port *port, struct area *area)
{
	__u32 at, count = xsk_ring_cons__peek(&port->completed, area->ring, &at);

	for (__u32 i = 0; i < count; i++)
		area_free(area, (__u32)(*xsk_ring_cons__comp_addr(&port->completed, at + i) /
					XBOND_XSK_FRAME_SIZE));
	if (count)
		xsk_ring_cons__release(&port->completed, count);
	port->reaped += count;
}

void *port_frame_at(const struct port *port, const struct area *area, __u32 back, __u32 *ret_length)
{
	const struct xdp_desc *ring = port->tx.ring;
	const struct xdp_desc *desc = &ring[(port->tx.cached_prod - back) & port->tx.mask];

	*ret_length = desc->len;
	return (char *)area->memory + desc->addr;
}

__u32 port_left(const struct port *port)
{
	if (port->is_zero_copy)
		return port_in_flight(port);
	return port->tx.cached_prod - __atomic_load_n(port->tx.consumer, __ATOMIC_ACQUIRE);
}

/* What port_kick() knows of the ring. */
struct port_progress {
	__u32 at;		      /* what the kernel takes next */
	__u32 refused, refused_bytes; /* the last ones before that */
};

/*
 * is_refused, by EBUSY: the kernel has dropped one frame, the last that it took; it may say later
 * that it has taken it. If it has sent others since, that was not for want of a carrier.
 */
static void port_note(struct port *port, struct port_progress *progress, int is_refused)
{
	const struct xdp_desc *ring = port->tx.ring;
	__u32 taken = __atomic_load_n(port->tx.consumer, __ATOMIC_ACQUIRE) - progress->at;

	if ((__s32)taken < is_refused)
		taken = (__u32)is_refused;
	if (taken > (__u32)is_refused) {
		port->dropped += progress->refused;
		port->dropped_bytes += progress->refused_bytes;
		progress->refused = progress->refused_bytes = 0;
	}
	progress->at += taken;
	if (!is_refused)
		return;
	progress->refused++;
	progress->refused_bytes += ring[(progress->at - 1) & port->tx.mask].len;
}

static int port_send(const struct port *port)
{
	return sendto(xsk_socket__fd(port->socket), NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
}

/* Zero copy: EBUSY names no frame, and none is dropped. */
static int port_has_failed(const struct port *port, int error)
{
	return error && error != EAGAIN && error != ENOBUFS && error != EINTR &&
	       (error != EBUSY || port->is_zero_copy);
}

/*
 * Without carrier each further call drops the next, so what was refused ends where the ring ends.
 * If it does not, the device has no room for the others yet.
 */
__u32 port_kick(struct port *port, struct area *area, int *ret_stuck)
{
	struct port_progress progress = { .at = port->tx.cached_prod - port_left(port) };
	int error = EAGAIN;

	*ret_stuck = 0;
	if (port->is_zero_copy && !xsk_ring_prod__needs_wakeup(&port->tx))
		return 0;
	for (__u32 turn = 0; error && !*ret_stuck && turn < PORT_TURNS(port->tx.size); turn++) {
		error = port_send(port);
		*ret_stuck = port_has_failed(port, error);
		if (!port->is_zero_copy)
			port_note(port, &progress, error == EBUSY);
		port_reap(port, area); /* the kernel may wait for it */
	}
	if (port->is_zero_copy)
		return *ret_stuck ? port_in_flight(port) : 0;
	if (*ret_stuck || progress.at == port->tx.cached_prod)
		return progress.refused + port->tx.cached_prod - progress.at;
	port->dropped += progress.refused;
	port->dropped_bytes += progress.refused_bytes;
	return 0;
}
