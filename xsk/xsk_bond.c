/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include "xbond/xsk.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "xbond/loader.h"
#include "xsk/choice.h"
#include "xsk/xsk_port.h"

#define PUBLIC __attribute__((visibility("default")))
#define LOOK_NS 10000000 /* how often something is tried again that needs system calls */

_Static_assert(XBOND_XSK_WHY_SIZE == XBOND_WHY_SIZE, "why");

struct xbond_xsk {
	char bond[XBOND_PATH_SIZE];
	struct xbond_xsk_options options;
	struct choice choice;
	struct area area;
	struct port port[XBOND_MAX_SLAVES];
	__u32 ifindex[XBOND_MAX_SLAVES]; /* of the table, as it was last followed */
	__u64 waiting;			 /* slots whose socket could not be opened yet */
	__u64 look_ns;			 /* when to look again */
	int control_fd;			 /* for ioctl() */
	struct xbond_xsk_counts counts;
};

static __u64 xsk_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

static void xsk_close_slot(struct xbond_xsk *xsk, __u32 slot)
{
	port_close(&xsk->port[slot], &xsk->area);
	xsk->waiting &= ~(1ULL << slot);
}

static int xsk_open_slot(struct xbond_xsk *xsk, __u32 slot)
{
	int r = port_open(&xsk->port[slot], &xsk->area, xsk->ifindex[slot], slot,
			  xsk->options.queue, xsk->options.bind);

	if (r) {
		xsk->waiting |= 1ULL << slot;
		xsk->choice.up &= ~(1ULL << slot);
	} else {
		xsk->waiting &= ~(1ULL << slot);
		xsk->choice.up |= 1ULL << slot;
		xsk->counts.opened++;
	}
	return r;
}

/*
 * Sockets of exactly the slaves that the table has now. *ret_slot: of the error that is returned. A
 * slave that is down is no error: it gets its socket when it is up.
 */
static int xsk_follow_slaves(struct xbond_xsk *xsk, __u32 *ret_slot)
{
	int r = 0;

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u32 now = __atomic_load_n(&xsk->choice.table->ifindex[slot], __ATOMIC_RELAXED);
		int failed;

		if (now == xsk->ifindex[slot])
			continue;
		xsk_close_slot(xsk, slot);
		xsk->ifindex[slot] = now;
		xsk->choice.up |= 1ULL << slot;
		failed = now ? xsk_open_slot(xsk, slot) : 0;
		if (failed && failed != -ENETDOWN && !r) {
			*ret_slot = slot;
			r = failed;
		}
	}
	return r;
}

static int xsk_is_current(const struct xbond_xsk *xsk)
{
	return xsk->choice.table && __atomic_load_n(&xsk->choice.table->select_abi,
						    __ATOMIC_RELAXED) == XBOND_SELECT_ABI;
}

/* The bond that has this name now. Its slaves may have kept their devices, and their slots not. */
static int xsk_find_bond(struct xbond_xsk *xsk)
{
	char why[XBOND_WHY_SIZE];

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		xsk_close_slot(xsk, slot);
	memset(xsk->ifindex, 0, sizeof(xsk->ifindex));
	choice_close(&xsk->choice);
	return choice_open(&xsk->choice, xsk->bond, why);
}

/* Does the kernel say that the slave can send? */
static int xsk_slave_runs(const struct xbond_xsk *xsk, __u32 slot)
{
	struct ifreq request;

	memset(&request, 0, sizeof(request));
	if (!if_indextoname(xsk->ifindex[slot], request.ifr_name) ||
	    ioctl(xsk->control_fd, SIOCGIFFLAGS, &request))
		return 0;
	return (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

/* What needs system calls: slaves that were cut, and sockets that could not be opened. */
static void xsk_look(struct xbond_xsk *xsk)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u64 bit = 1ULL << slot;

		if (!xsk->ifindex[slot] || !((~xsk->choice.up | xsk->waiting) & bit) ||
		    !xsk_slave_runs(xsk, slot))
			continue;
		if (xsk->waiting & bit)
			xsk_open_slot(xsk, slot);
		else
			xsk->choice.up |= bit;
	}
}

PUBLIC int xbond_xsk_follow(struct xbond_xsk *xsk)
{
	__u32 slot;
	__u64 now_ns;

	if (xsk_is_current(xsk)) {
		if (memcmp(xsk->ifindex, (const void *)xsk->choice.table->ifindex,
			   sizeof(xsk->ifindex)))
			xsk_follow_slaves(xsk, &slot);
		if (!~xsk->choice.up && !xsk->waiting)
			return 0;
	}
	now_ns = xsk_time_ns();
	if (now_ns < xsk->look_ns)
		return xsk_is_current(xsk) ? 0 : -ENOENT;
	xsk->look_ns = now_ns + LOOK_NS;
	if (!xsk_is_current(xsk)) {
		if (xsk_find_bond(xsk))
			return -ENOENT;
		xsk_follow_slaves(xsk, &slot);
	}
	xsk_look(xsk);
	return 0;
}

static void xsk_reap(struct xbond_xsk *xsk)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (xsk->port[slot].socket)
			port_reap(&xsk->port[slot], &xsk->area);
}

PUBLIC int xbond_xsk_take(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most)
{
	int count = 0;

	if (xsk->area.free_count < (__u32)most)
		xsk_reap(xsk);
	for (; count < most && xsk->area.free_count; count++)
		frames[count] = (struct xbond_xsk_frame){
			.data = area_at(&xsk->area, xsk->area.free[--xsk->area.free_count]),
			.slot = XBOND_XSK_NO_SLOT,
		};
	return count;
}

PUBLIC void xbond_xsk_release(struct xbond_xsk *xsk, const struct xbond_xsk_frame *frames,
			      int count)
{
	for (int i = 0; i < count; i++)
		area_free(&xsk->area, area_number(&xsk->area, frames[i].data));
}

/* Returns the slots whose device has a frame that it was not told of. */
static __u64 xsk_put(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame, __u32 slot)
{
	struct port *port = &xsk->port[slot];

	if (!port->socket) {
		xsk->counts.no_slave++;
	} else if (!port_put(port, &xsk->area, frame->data, frame->length)) {
		xsk->counts.full++;
	} else {
		frame->slot = (__u16)slot;
		return 1ULL << slot;
	}
	xbond_xsk_release(xsk, frame, 1);
	return 0;
}

/* A copy for each slave that has carrier; the lowest gets the frame itself. */
static __u64 xsk_put_all(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame)
{
	__u64 mask = __atomic_load_n(&xsk->choice.table->tx_mask, __ATOMIC_RELAXED), touched = 0;

	if (mask & xsk->choice.up)
		mask &= xsk->choice.up;
	for (__u64 left = mask & (mask - 1); left; left &= left - 1) {
		struct xbond_xsk_frame copy;

		if (xbond_xsk_take(xsk, &copy, 1) != 1) {
			xsk->counts.full++;
			continue;
		}
		memcpy(copy.data, frame->data, frame->length);
		copy.length = frame->length;
		touched |= xsk_put(xsk, &copy, (__u32)__builtin_ctzll(left));
	}
	return touched | xsk_put(xsk, frame, (__u32)__builtin_ctzll(mask));
}

static __u64 xsk_put_chosen(struct xbond_xsk *xsk, struct xbond_xsk_frame *frame)
{
	int selected = XBOND_NO_BOND;

	frame->slot = XBOND_XSK_NO_SLOT;
	if (frame->length > XBOND_XSK_FRAME_SIZE) {
		xsk->counts.lost++;
		xbond_xsk_release(xsk, frame, 1);
		return 0;
	}
	if (xsk->choice.table)
		selected = choice_select(&xsk->choice, frame->data, frame->length);
	if (selected >= 0 && selected < XBOND_MAX_SLAVES)
		return xsk_put(xsk, frame, (__u32)selected);
	if (selected == XBOND_EVERY_SLAVE)
		return xsk_put_all(xsk, frame);
	xsk->counts.no_slave++;
	xbond_xsk_release(xsk, frame, 1);
	return 0;
}

/* balance-tlb has written the address of a slave by which the frame has not left. */
static void xsk_restore_source(const struct xbond_xsk *xsk, __u32 slot, void *frame)
{
	const struct xbond_alb *alb = xsk->choice.alb;
	char *source = (char *)frame + XBOND_MAC_SIZE;

	if (xsk->choice.table->flags & XBOND_F_TLB && alb->mac[slot] &&
	    !memcmp(source, (const void *)&alb->mac[slot], XBOND_MAC_SIZE))
		memcpy(source, (const void *)&alb->bond_mac, XBOND_MAC_SIZE);
}

/* stuck: the ring has frames that the kernel could still send when the slave is up again. */
static void xsk_is_cut(struct xbond_xsk *xsk, __u32 slot, int stuck)
{
	xsk->choice.up &= ~(1ULL << slot);
	xsk->look_ns = xsk_time_ns() + LOOK_NS;
	if (!stuck)
		return;
	port_close(&xsk->port[slot], &xsk->area);
	xsk->waiting |= 1ULL << slot;
}

/*
 * The last `count` frames of a port go out again. Their memory is the kernel's until it says
 * otherwise, so they are copied. Returns the slots that have them.
 */
static __u64 xsk_send_again(struct xbond_xsk *xsk, __u32 slot, __u32 count, int stuck)
{
	struct port *port = &xsk->port[slot];
	char(*kept)[XBOND_XSK_FRAME_SIZE] = calloc(count, sizeof(*kept));
	__u32 *lengths = calloc(count, sizeof(*lengths));
	__u64 touched = 0;

	xsk->counts.sent -= count;
	for (__u32 i = 0; kept && lengths && i < count; i++) {
		void *data = port_frame_at(port, &xsk->area, count - i, &lengths[i]);

		memcpy(kept[i], data, lengths[i]);
		xsk_restore_source(xsk, slot, kept[i]);
		xsk->counts.sent_bytes -= lengths[i];
	}
	xsk_is_cut(xsk, slot, stuck);
	for (__u32 i = 0; i < count; i++) {
		struct xbond_xsk_frame frame;

		if (!kept || !lengths || xbond_xsk_take(xsk, &frame, 1) != 1) {
			xsk->counts.lost++;
			continue;
		}
		memcpy(frame.data, kept[i], lengths[i]);
		frame.length = lengths[i];
		touched |= xsk_put_chosen(xsk, &frame);
		if (frame.slot == XBOND_XSK_NO_SLOT)
			continue;
		xsk->counts.sent_again++;
		xsk->counts.sent++;
		xsk->counts.sent_bytes += frame.length;
	}
	free(kept);
	free(lengths);
	return touched;
}

/* Each slave may be found to be cut once; what it refuses then is lost: there is no other. */
static void xsk_kick(struct xbond_xsk *xsk, __u64 touched)
{
	__u64 cut = 0;

	while (touched) {
		__u32 slot = (__u32)__builtin_ctzll(touched), refused;
		int stuck;

		touched &= touched - 1;
		if (!xsk->port[slot].socket)
			continue;
		refused = port_kick(&xsk->port[slot], &stuck);
		if (refused && !(cut >> slot & 1)) {
			cut |= 1ULL << slot;
			touched |= xsk_send_again(xsk, slot, refused, stuck);
		} else if (refused) {
			xsk->counts.lost += refused;
			xsk->counts.sent -= refused;
			xsk_is_cut(xsk, slot, stuck);
		}
		if (xsk->port[slot].socket)
			port_reap(&xsk->port[slot], &xsk->area);
	}
}

PUBLIC int xbond_xsk_send(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int count)
{
	__u64 touched = 0;
	int sent = 0;

	xbond_xsk_follow(xsk);
	for (int i = 0; i < count; i++) {
		touched |= xsk_put_chosen(xsk, &frames[i]);
		if (frames[i].slot == XBOND_XSK_NO_SLOT)
			continue;
		sent++;
		xsk->counts.sent++;
		xsk->counts.sent_bytes += frames[i].length;
	}
	xsk_kick(xsk, touched);
	return sent;
}

static int xsk_check_options(const struct xbond_xsk_options *options, char *why)
{
	if (options->size != sizeof(*options))
		return xbond_say(why, EINVAL, "options.size is that of another version");
	if (options->ring & (options->ring - 1))
		return xbond_say(why, EINVAL, "options.ring is not a power of two");
	if (options->bind & ~(__u32)XDP_COPY)
		return xbond_say(why, EINVAL, "options.bind may have XDP_COPY alone");
	return 0;
}

static int xsk_make_area(struct area *area)
{
	void *memory =
		mmap(NULL, (size_t)area->frames * XBOND_XSK_FRAME_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	area->free = calloc(area->frames, sizeof(*area->free));
	area->holder = calloc(area->frames, sizeof(*area->holder));
	area->memory = memory == MAP_FAILED ? NULL : memory;
	if (!area->memory || !area->free || !area->holder)
		return -ENOMEM;
	for (__u32 frame = area->frames; frame--;)
		area_free(area, frame);
	return 0;
}

static int xsk_start(struct xbond_xsk *xsk, char *why)
{
	char name[IF_NAMESIZE] = "?";
	__u32 slot = 0;
	int r = choice_open(&xsk->choice, xsk->bond, why);

	if (r)
		return r;
	if (xsk->choice.table->flags & XBOND_F_POLICY)
		return xbond_say(why, EOPNOTSUPP,
				 "%s has a policy, which only its own programs ask", xsk->bond);
	r = xsk_make_area(&xsk->area);
	if (r)
		return xbond_say(why, -r, "no memory for %u frames", xsk->area.frames);
	xsk->control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (xsk->control_fd < 0)
		return xbond_say(why, errno, "no socket: %s", strerror(errno));
	r = xsk_follow_slaves(xsk, &slot);
	if (r)
		return xbond_say(why, -r, "no socket on %s, queue %u: %s",
				 if_indextoname(xsk->ifindex[slot], name) ? name : "a slave",
				 xsk->options.queue, strerror(-r));
	return 0;
}

PUBLIC int xbond_xsk_open(struct xbond_xsk **ret, const char *bond,
			  const struct xbond_xsk_options *options, char *why)
{
	struct xbond_xsk *xsk;
	int r = xsk_check_options(options, why);

	*ret = NULL;
	if (r)
		return r;
	xsk = calloc(1, sizeof(*xsk));
	if (!xsk)
		return xbond_say(why, ENOMEM, "no memory");
	snprintf(xsk->bond, sizeof(xsk->bond), "%s", bond);
	xsk->options = *options;
	xsk->options.bind |= XDP_COPY;
	xsk->area.frames = options->frames ? options->frames : 4096;
	xsk->area.ring = options->ring ? options->ring : 1024;
	xsk->control_fd = -1;
	r = xsk_start(xsk, why);
	if (r)
		xbond_xsk_close(xsk);
	else
		*ret = xsk;
	return r;
}

PUBLIC void xbond_xsk_close(struct xbond_xsk *xsk)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		xsk_close_slot(xsk, slot);
	choice_close(&xsk->choice);
	if (xsk->control_fd >= 0)
		close(xsk->control_fd);
	if (xsk->area.memory)
		munmap(xsk->area.memory, (size_t)xsk->area.frames * XBOND_XSK_FRAME_SIZE);
	free(xsk->area.free);
	free(xsk->area.holder);
	free(xsk);
}

PUBLIC void xbond_xsk_counts(const struct xbond_xsk *xsk, struct xbond_xsk_counts *ret)
{
	*ret = xsk->counts;
}
