/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include <linux/if_ether.h>

#include "xsk/xsk_bond.h"

#define VLAN_TAG 4

void xsk_count(struct xbond_xsk *xsk, __u32 slot)
{
	__u64 *from = (__u64 *)&xsk->batch[slot], *to = (__u64 *)&xsk->choice.afxdp->slot[slot];

	for (size_t i = 0; i < sizeof(xsk->batch[slot]) / sizeof(*to); i++) {
		if (from[i])
			__atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
		from[i] = 0;
	}
}

/* Returns the slots whose device has a frame that it was not told of. */
static __u64 xsk_put(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame, __u32 slot)
{
	struct port *port = &xsk->port[slot][0];

	if (!port->socket) {
		xsk->counts.no_slave++;
	} else if (!port_put(port, &xsk->area, frame->data, frame->length)) {
		xsk->counts.full++;
	} else {
		frame->slot = (__u16)slot;
		xsk->batch[slot].tx_packets++;
		xsk->batch[slot].tx_bytes += frame->length;
		return slots_bit(slot);
	}
	xbond_xsk_release(xsk, frame, 1);
	return 0;
}

/*
 * Of what is for every slave: those that have carrier and a socket, as far as there are such. 0:
 * bondd has taken them all out of use since the choice.
 */
static __u64 xsk_every_slave(const struct xbond_xsk *xsk)
{
	__u64 mask = __atomic_load_n(&xsk->choice.table->tx_mask, __ATOMIC_RELAXED);

	if (mask & xsk->choice.up)
		mask &= xsk->choice.up;
	return mask & xsk->slots ? mask & xsk->slots : mask;
}

/* A copy for each slave of the mask; the lowest gets the frame itself. One of them is enough. */
static __u64 xsk_put_all(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame, __u64 mask)
{
	__u64 others = mask & (mask - 1), touched = 0;

	slots_for_each (others, slot) {
		struct xbond_xsk_frame copy;

		if (xsk_take(xsk, &copy, 1) != 1) {
			xsk->counts.full++;
			continue;
		}
		memcpy(copy.data, frame->data, frame->length);
		copy.length = frame->length;
		touched |= xsk_put(xsk, &copy, slot);
	}
	touched |= xsk_put(xsk, frame, (__u32)__builtin_ctzll(mask));
	if (touched)
		frame->slot = (__u16)__builtin_ctzll(touched);
	return touched;
}

static int xsk_choose(struct xbond_xsk *xsk, void *data, __u32 length)
{
	return xsk->choice.table ? choice_select(&xsk->choice, data, length) : XBOND_NO_BOND;
}

static __u64 xsk_put_selected(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame, int selected)
{
	__u64 mask = selected == XBOND_EVERY_SLAVE ? xsk_every_slave(xsk) : 0;

	frame->slot = XBOND_XSK_NO_SLOT;
	if (selected >= 0 && selected < XBOND_MAX_SLAVES)
		return xsk_put(xsk, frame, (__u32)selected);
	if (mask)
		return xsk_put_all(xsk, frame, mask);
	xsk->counts.no_slave++;
	xbond_xsk_release(xsk, frame, 1);
	return 0;
}

/* A descriptor that the kernel finds wrong, as one without length, would stop the ring for good. */
static __u64 xsk_put_chosen(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame)
{
	if (frame->length >= ETH_HLEN && frame->length <= area_room(&xsk->area, frame->data))
		return xsk_put_selected(xsk, frame, xsk_choose(xsk, frame->data, frame->length));
	frame->slot = XBOND_XSK_NO_SLOT;
	xsk->counts.lost++;
	xbond_xsk_release(xsk, frame, 1);
	return 0;
}

/* balance-tlb has written the address of a slave by which the frame has not left. */
static void xsk_restore_source(const struct xbond_xsk *xsk, __u32 slot, void *frame)
{
	if (xsk->choice.table->flags & XBOND_F_TLB)
		xsk_own_to_bond(xsk, slot, (char *)frame + XBOND_MAC_SIZE);
}

/* Of the last `count` frames of a port. */
static __u64 xsk_last_bytes(const struct xbond_xsk *xsk, __u32 slot, __u32 count)
{
	__u64 bytes = 0;
	__u32 length;

	for (__u32 back = 1; back <= count; back++) {
		port_frame_at(&xsk->port[slot][0], &xsk->area, back, &length);
		bytes += length;
	}
	return bytes;
}

/* So many frames have not left by the slave. */
static void xsk_count_back(struct xbond_xsk *xsk, __u32 slot, __u32 count, __u64 bytes)
{
	xsk->counts.sent -= count;
	xsk->counts.sent_bytes -= bytes;
	xsk->batch[slot].tx_packets -= count;
	xsk->batch[slot].tx_bytes -= bytes;
}

/* Nor will they by others. What others have copies of is sent. */
static void xsk_count_lost(struct xbond_xsk *xsk, __u32 slot, __u32 count, __u64 bytes,
			   __u64 others)
{
	xsk_count_back(xsk, slot, count, bytes);
	if (others && xsk->choice.table->selection == XBOND_SELECT_ALL) {
		xsk->counts.sent += count;
		xsk->counts.sent_bytes += bytes;
	} else {
		xsk->counts.lost += count;
	}
}

/*
 * others: the slots that have copies, if it is for every slave; such a frame is not sent again.
 * Returns whether it is sent.
 */
static int xsk_put_again(struct xbond_xsk *xsk, void *data, __u32 length, __u64 others,
			 __u64 *touched)
{
	int selected = xsk_choose(xsk, data, length);
	struct xbond_xsk_frame frame;

	if (selected == XBOND_EVERY_SLAVE || xsk_take(xsk, &frame, 1) != 1) {
		int has_copies = selected == XBOND_EVERY_SLAVE && others;

		xsk->counts.lost += !has_copies;
		return has_copies;
	}
	memcpy(frame.data, data, length);
	frame.length = length;
	*touched |= xsk_put_selected(xsk, &frame, selected);
	if (frame.slot == XBOND_XSK_NO_SLOT)
		return 0;
	xsk->counts.sent_again++;
	return 1;
}

/*
 * The last `count` frames of a port go out again. Their memory is the kernel's until it says
 * otherwise, so they are copied. Returns the slots that have them.
 */
static __u64 xsk_send_again(struct xbond_xsk *xsk, __u32 slot, __u32 count, int stuck, __u64 others)
{
	struct port *port = &xsk->port[slot][0];
	char(*kept)[XBOND_XSK_FRAME_SIZE] = calloc(count, sizeof(*kept));
	__u32 *lengths = calloc(count, sizeof(*lengths));
	__u64 touched = 0;

	xsk_count_back(xsk, slot, count, xsk_last_bytes(xsk, slot, count));
	for (__u32 i = 0; kept && lengths && i < count; i++) {
		void *data = port_frame_at(port, &xsk->area, count - i, &lengths[i]);

		memcpy(kept[i], data, lengths[i]);
		xsk_restore_source(xsk, slot, kept[i]);
	}
	xsk_is_cut(xsk, slot, stuck);
	for (__u32 i = 0; kept && lengths && i < count; i++) {
		if (!xsk_put_again(xsk, kept[i], lengths[i], others, &touched))
			continue;
		xsk->counts.sent++;
		xsk->counts.sent_bytes += lengths[i];
	}
	if (!kept || !lengths)
		xsk->counts.lost += count;
	free(kept);
	free(lengths);
	return touched;
}

static void xsk_note_unsent(struct xbond_xsk *xsk, __u32 slot)
{
	struct port *port = &xsk->port[slot][0];

	port_reap(port, &xsk->area);
	if (!port->is_zero_copy && port_left(port))
		xsk->unsent |= slots_bit(slot);
	else
		xsk->unsent &= ~slots_bit(slot);
}

/* The last `count` frames of a port: some devices refuse what is longer than their MTU. */
static int xsk_are_too_long(const struct xbond_xsk *xsk, __u32 slot, __u32 count)
{
	__u32 most = xsk_mtu(xsk, slot) + ETH_HLEN + VLAN_TAG, length;

	for (__u32 back = 1; back <= count; back++) {
		port_frame_at(&xsk->port[slot][0], &xsk->area, back, &length);
		if (length <= most)
			return 0;
	}
	return 1;
}

/* Tells the device of what is in the ring. *cut: slots that have refused frames. */
static __u64 xsk_kick_slot(struct xbond_xsk *xsk, __u32 slot, __u64 others, __u64 *cut)
{
	struct port *port = &xsk->port[slot][0];
	int stuck, was_cut = slots_have(*cut, slot);
	__u32 refused = port_kick(port, &xsk->area, &stuck);

	/* Before Linux 6.17, what was sent before them may look as if it was sent after them. */
	if (port->dropped && !refused && !xsk_has_carrier(xsk, slot)) {
		stuck = port_left(port) != 0;
		refused = port->dropped + port_left(port);
		port->dropped = port->dropped_bytes = 0;
	}
	others &= ~(*cut | slots_bit(slot));
	xsk_count_lost(xsk, slot, port->dropped, port->dropped_bytes, others);
	port->dropped = port->dropped_bytes = 0;
	if (!refused)
		return 0;
	*cut |= slots_bit(slot);
	if (!was_cut && (stuck || !xsk_are_too_long(xsk, slot, refused)))
		return xsk_send_again(xsk, slot, refused, stuck, others);
	xsk_count_lost(xsk, slot, refused, xsk_last_bytes(xsk, slot, refused), others);
	if (was_cut)
		xsk_is_cut(xsk, slot, stuck);
	return 0;
}

/*
 * Each slave may be found to be cut once; what it refuses then is lost: there is no other. others:
 * slots that may have copies of what is in the rings, besides those that are touched.
 */
static void xsk_kick(struct xbond_xsk *xsk, __u64 touched, __u64 others)
{
	__u64 cut = 0, used = 0;

	while (touched) {
		__u32 slot = (__u32)__builtin_ctzll(touched);

		touched &= touched - 1;
		used |= slots_bit(slot);
		if (!xsk->port[slot][0].socket)
			continue;
		touched |= xsk_kick_slot(xsk, slot, others | used | touched, &cut);
		if (xsk->port[slot][0].socket)
			xsk_note_unsent(xsk, slot);
	}
	slots_for_each (used, slot)
		xsk_count(xsk, slot);
}

/* What the bond has counted for this slave is taken back, too. */
static __u64 xsk_take_back(struct xbond_xsk *xsk, __u32 slot)
{
	__u64 others = xsk->slots & xsk->choice.up & ~slots_bit(slot);
	__u64 touched = xsk_send_again(xsk, slot, port_in_flight(&xsk->port[slot][0]), 1, others);

	xsk_count(xsk, slot);
	return touched;
}

/*
 * Zero copy. lost, is_sure: as xsk_lost() says. If it may be late, a queue that has finished
 * nothing since the last time asks the driver, and then not so soon again. Returns the slots whose
 * device has a frame that it was not told of.
 */
static __u64 xsk_look_after(struct xbond_xsk *xsk, __u32 slot, __u64 lost, int is_sure)
{
	struct port *port = &xsk->port[slot][0];
	int is_still;

	port_reap(port, &xsk->area);
	is_still = port_in_flight(port) && port->reaped == xsk->reaped[slot];
	xsk->reaped[slot] = port->reaped;
	if (is_still && !is_sure)
		xsk->still_ns = choice_time_ns() + XSK_LOOK_NS;
	if (!slots_have(lost, slot) && (!is_still || is_sure || xsk_has_carrier(xsk, slot)))
		return is_still ? slots_bit(slot) : 0;
	if (port_in_flight(port))
		return xsk_take_back(xsk, slot);
	xsk_is_cut(xsk, slot, 0);
	return 0;
}

void xsk_rescue(struct xbond_xsk *xsk)
{
	__u64 now_ns = choice_time_ns(), touched, lost;
	int is_sure;

	if (now_ns < xsk->still_ns)
		return;
	xsk->still_ns = now_ns + XSK_STILL_NS;
	touched = xsk->unsent;
	if (xsk_is_zero_copy(xsk)) {
		if (now_ns >= xsk->renew_ns) {
			choice_renew_look(&xsk->choice, xsk->bond);
			xsk->renew_ns = now_ns + XSK_CHECK_NS;
		}
		is_sure = xsk_lost(xsk, &lost);
		slots_for_each (xsk->slots, slot)
			touched |= xsk_look_after(xsk, slot, lost, is_sure);
	}
	xsk_kick(xsk, touched, xsk->slots & xsk->choice.up);
}

XSK_PUBLIC int xbond_xsk_send(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int count)
{
	__u64 touched = 0;
	int sent = 0;

	xbond_xsk_update(xsk);
	for (int i = 0; i < count; i++) {
		touched |= xsk_put_chosen(xsk, &frames[i]);
		if (frames[i].slot == XBOND_XSK_NO_SLOT)
			continue;
		sent++;
		xsk->counts.sent++;
		xsk->counts.sent_bytes += frames[i].length;
	}
	xsk_kick(xsk, touched, 0);
	return sent;
}
