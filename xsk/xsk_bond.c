/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include <linux/if_ether.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "xsk/xsk_bond.h"

#define XSK_TURNS 100	/* of XSK_LOOK_NS, for a queue that is in use */
#define XSK_WAIT_MS 100 /* so often a caller who waits looks at the bond */
#define XSK_UNSENT_MS 1 /* and so often while frames wait for room */

/* In the first version. */
#define XSK_OPTIONS_SIZE_0 (offsetof(struct xbond_xsk_options, pins) + sizeof(const char *))
#define XSK_OPTIONS_MAX 4096 /* no version will have more */

_Static_assert(XBOND_XSK_WHY_SIZE == XBOND_WHY_SIZE, "why");
/* Programs have arrays of them. */
_Static_assert(sizeof(struct xbond_xsk_frame) == sizeof(void *) + 8, "frames");

static void xsk_reap(struct xbond_xsk *xsk)
{
	slots_for_each (xsk->slots, slot)
		port_reap(&xsk->port[slot][0], &xsk->area);
}

int xsk_take(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most)
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

XSK_PUBLIC int xbond_xsk_take(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most)
{
	if (xsk->unsent && xsk->area.free_count < (__u32)most)
		xsk_rescue(xsk);
	return xsk_take(xsk, frames, most);
}

XSK_PUBLIC void xbond_xsk_release(struct xbond_xsk *xsk, const struct xbond_xsk_frame *frames,
				  int count)
{
	for (int i = 0; i < count; i++)
		area_free(&xsk->area, area_number(&xsk->area, frames[i].data));
}

/* Of one slave. */
static int xsk_receive_by(struct xbond_xsk *xsk, __u32 slot, struct xbond_xsk_frame *frames,
			  int most)
{
	struct xbond_counters *batch = &xsk->batch[slot];
	__u32 queues = xsk_queues(xsk, slot), first = xsk->next_queue[slot];
	int count = 0, kept = 0, collects, is_alb;

	for (__u32 i = 0; i < queues; i++) {
		struct port *port = &xsk->port[slot][(first + i) % queues];

		count += port_receive(port, &xsk->area, frames + count, most - count, (__u16)slot);
		xsk_fill(xsk, port, xsk->ports_open);
	}
	xsk->next_queue[slot] += most > 0;
	if (!count)
		return 0;
	collects = choice_collects(&xsk->choice, slot);
	is_alb = !!(__atomic_load_n(&xsk->choice.table->flags, __ATOMIC_RELAXED) & XBOND_F_ALB);
	for (int i = 0; i < count; i++) {
		int is_own = is_alb && xsk_own_to_bond(xsk, slot, frames[i].data);

		if (!is_own && !collects) {
			xbond_xsk_release(xsk, &frames[i], 1);
			continue;
		}
		batch->rx_bytes += frames[i].length;
		frames[kept++] = frames[i];
	}
	batch->rx_packets = (__u64)kept;
	batch->rx_dropped = (__u64)(count - kept);
	xsk->counts.not_collected += batch->rx_dropped;
	xsk_count(xsk, slot);
	return kept;
}

XSK_PUBLIC int xbond_xsk_receive(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most)
{
	int count = 0;

	xbond_xsk_update(xsk);
	if (!xsk_receives(&xsk->options))
		return 0;
	/* Each time another slave and queue is first, so none can keep the others away. */
	xsk->next_slot = slots_next(xsk->slots, xsk->next_slot + 1);
	if (xsk->next_slot == XBOND_MAX_SLAVES)
		xsk->next_slot = slots_next(xsk->slots, 0);
	for (__u32 i = 0; i < XBOND_MAX_SLAVES && xsk->slots; i++) {
		__u32 slot = (xsk->next_slot + i) % XBOND_MAX_SLAVES;

		if (slots_have(xsk->slots, slot))
			count += xsk_receive_by(xsk, slot, frames + count, most - count);
	}
	xsk->counts.received += (__u64)count;
	return count;
}

XSK_PUBLIC int xbond_xsk_wait(struct xbond_xsk *xsk, int timeout_ms)
{
	nfds_t count = 0;
	int most_ms = xsk->unsent ? XSK_UNSENT_MS : XSK_WAIT_MS, r;

	/* poll() sends, too, and does not say which frames it drops because a slave was cut. */
	slots_for_each (xsk->slots & ~xsk->unsent, slot) {
		for (__u32 i = 0; i < xsk_queues(xsk, slot); i++)
			xsk->polled[count++] =
				(struct pollfd){ .fd = xsk_socket__fd(xsk->port[slot][i].socket),
						 .events = POLLIN };
	}
	if (timeout_ms < 0 || timeout_ms > most_ms)
		timeout_ms = most_ms;
	r = poll(xsk->polled, count, timeout_ms);
	return r < 0 ? -errno : r > 0;
}

/* The bond cannot do without these, or another option is for them. */
static int xsk_is_reserved(__u16 ether_type)
{
	static const __u16 reserved[] = { ETH_P_IP,    ETH_P_IPV6,   ETH_P_ARP,
					  ETH_P_8021Q, ETH_P_8021AD, ETH_P_SLOW };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (ether_type == reserved[i])
			return 1;
	return ether_type && ether_type < ETH_P_802_3_MIN;
}

/*
 * What a program of an older version does not have is zero, and so must be what one of a newer
 * version has and this one does not know.
 */
static int xsk_copy_options(struct xbond_xsk_options *ret, const struct xbond_xsk_options *options,
			    char *why)
{
	const char *bytes = (const char *)options;
	size_t size = options->size;

	if (size < XSK_OPTIONS_SIZE_0 || size > XSK_OPTIONS_MAX)
		return xbond_say(why, EINVAL, "options.size is not the size of the options");
	for (size_t i = sizeof(*ret); i < size; i++)
		if (bytes[i])
			return xbond_say(why, EINVAL,
					 "options need a later version of the library");
	memcpy(ret, options, size < sizeof(*ret) ? size : sizeof(*ret));
	if (!ret->function)
		ret->function = "";
	return 0;
}

static int xsk_check_function(const struct xbond_xsk_options *options, char *why)
{
	if (xsk_asks_by_fields(options))
		return xbond_say(why, EINVAL,
				 "options.function, and something else that is to be received");
	if (strlen(options->function) >= XBOND_PATH_SIZE)
		return xbond_say(why, EINVAL, "options.function is too long");
	return 0;
}

/* Must have room for a slave's name. */
static int xsk_check_directory(const char *directory, const char *name, char *why)
{
	if (strlen(directory) >= XBOND_PATH_SIZE - IF_NAMESIZE - 1)
		return xbond_say(why, EINVAL, "options.%s is too long", name);
	return 0;
}

static int xsk_check_pins(const struct xbond_xsk_options *options, char *why)
{
	if (options->queues)
		return xbond_say(why, EINVAL,
				 "options.queues is for sockets, and options.pins "
				 "for those of others");
	if (!xsk_asks(options))
		return xbond_say(why, EINVAL, "options.pins, and nothing that is to be received");
	return xsk_check_directory(options->pins, "pins", why);
}

static int xsk_check_sockets(const struct xbond_xsk_options *options, char *why)
{
	if (options->pins || xsk_asks(options))
		return xbond_say(why, EINVAL,
				 "options.sockets, and the process that has the pins says what is "
				 "to be received");
	return xsk_check_directory(options->sockets, "sockets", why);
}

static int xsk_check_options(const struct xbond_xsk_options *options, char *why)
{
	int r = *options->function ? xsk_check_function(options, why) : 0;

	if (r)
		return r;
	if (options->ring & (options->ring - 1))
		return xbond_say(why, EINVAL, "options.ring is not a power of two");
	if (options->queues > XBOND_XSK_QUEUES)
		return xbond_say(why, EINVAL, "options.queues is more than %d", XBOND_XSK_QUEUES);
	if (options->bind && options->bind != XDP_COPY && options->bind != XDP_ZEROCOPY)
		return xbond_say(why, EINVAL,
				 "options.bind may have XDP_COPY alone, or XDP_ZEROCOPY alone");
	if (xsk_is_reserved(options->ether_type))
		return xbond_say(why, EINVAL, "options.ether_type 0x%04x is the bond's",
				 options->ether_type);
	if (options->family && options->family != AF_INET && options->family != AF_INET6)
		return xbond_say(why, EINVAL, "options.family is neither AF_INET nor AF_INET6");
	if (options->sockets)
		return xsk_check_sockets(options, why);
	return options->pins ? xsk_check_pins(options, why) : 0;
}

/* Shared, so that it is the kernel's also after a fork, as of daemon(3). */
static int xsk_make_area(struct area *area)
{
	void *memory =
		mmap(NULL, (size_t)area->frames * XBOND_XSK_FRAME_SIZE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	area->free = calloc(area->frames, sizeof(*area->free));
	area->holder = calloc(area->frames, sizeof(*area->holder));
	area->memory = memory == MAP_FAILED ? NULL : memory;
	if (!area->memory || !area->free || !area->holder)
		return -ENOMEM;
	for (__u32 frame = area->frames; frame--;)
		area_free(area, frame);
	return 0;
}

/* The kernel gives the queues of a process that has ended back a moment later. */
static int xsk_open_first(struct xbond_xsk *xsk, __u32 *ret_slot)
{
	const struct timespec pause = { .tv_nsec = XSK_LOOK_NS };
	int r;

	xsk->is_opening = 1;
	r = xsk_settle_slaves(xsk, ret_slot);
	for (int turn = 0; r == -EBUSY && turn < XSK_TURNS; turn++) {
		nanosleep(&pause, NULL);
		r = xsk_settle_slaves(xsk, ret_slot);
	}
	xsk->is_opening = 0;
	return r;
}

static const char *xsk_reason(const struct xbond_xsk *xsk, int code)
{
	if (code == EADDRINUSE)
		return "another handle of this process receives by another filter there";
	if (code == ENOTDIR)
		return "options.pins is no directory below a bpffs, or has something else there";
	if (code == ENOMEM)
		return "no memory, or RLIMIT_MEMLOCK is less than the area for each socket";
	if (code == ENXIO)
		return "options.sockets has no map for it: does the process that pins it run?";
	if (code == EACCES && xsk->options.sockets)
		return "its map in options.sockets is not for this user";
	if (code == EACCES && *xsk->options.function)
		return "the kernel refuses options.function; libbpf's log says why";
	if (code == EPERM || code == EACCES)
		return xsk_needs_filter(xsk) && !xsk->options.sockets
			       ? "CAP_NET_RAW is missing, or for the XDP program CAP_BPF, "
				 "CAP_NET_ADMIN or CAP_PERFMON"
			       : "CAP_NET_RAW is missing";
	if (code == ENOBUFS)
		return "for zero copy options.frames has to be options.ring for each socket";
	if (code == EOPNOTSUPP && xsk_is_zero_copy(xsk))
		return "its driver, or its driver on this kernel, has no zero-copy mode";
	if (code == EBUSY)
		return xsk_receives(&xsk->options)
			       ? "somebody has the queue, or an XDP program there that "
				 "is no part of libxdp's dispatcher"
			       : "somebody has the queue";
	return strerror(code);
}

static int xsk_start(struct xbond_xsk *xsk, char *why)
{
	socklen_t length = sizeof(xsk->namespace);
	char name[IF_NAMESIZE] = "?";
	__u32 slot = 0;
	int r = choice_open(&xsk->choice, xsk->bond, why);

	if (r)
		return r;
	if (xsk->choice.table->flags & XBOND_F_POLICY)
		return xbond_say(why, EOPNOTSUPP,
				 "%s has a policy, which only its own programs ask", xsk->bond);
	if (*xsk->function) {
		xsk->linked_fd = filter_link_function(xsk->function);
		if (xsk->linked_fd < 0)
			return xbond_say(why, -xsk->linked_fd, "options.function: %s",
					 xsk->linked_fd == -EINVAL
						 ? "no object file of clang -g that has "
						   "int xbond_wants(struct xdp_md *), or "
						   "libbpf's log says why"
						 : strerror(-xsk->linked_fd));
	}
	r = xsk->options.pins ? 0 : xsk_make_area(&xsk->area);
	if (r)
		return xbond_say(why, -r, "no memory for %u frames", xsk->area.frames);
	xsk->control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (xsk->control_fd < 0 ||
	    getsockopt(xsk->control_fd, SOL_SOCKET, SO_NETNS_COOKIE, &xsk->namespace, &length))
		return xbond_say(why, errno, "no socket: %s", strerror(errno));
	xsk->check_ns = (__u64)xsk_needs_filter(xsk);
	r = xsk_open_first(xsk, &slot);
	if (r)
		return xbond_say(why, -r, "cannot use %s, queue %u: %s",
				 if_indextoname(xsk->ifindex[slot], name) ? name : "a slave",
				 xsk->options.queue, xsk_reason(xsk, -r));
	return 0;
}

XSK_PUBLIC int xbond_xsk_open(struct xbond_xsk **ret, const char *bond,
			      const struct xbond_xsk_options *options, char *why)
{
	struct xbond_xsk_options known = { .function = "" };
	struct xbond_xsk *xsk;
	int r = xsk_copy_options(&known, options, why);

	*ret = NULL;
	if (!r)
		r = xsk_check_options(&known, why);
	if (r)
		return r;
	xsk = calloc(1, sizeof(*xsk));
	if (!xsk)
		return xbond_say(why, ENOMEM, "no memory");
	snprintf(xsk->bond, sizeof(xsk->bond), "%s", bond);
	xsk->options = known;
	if (!xsk->options.bind)
		xsk->options.bind = XDP_COPY;
	if (known.pins)
		xsk->options.pins = strcpy(xsk->pins, known.pins);
	else if (known.sockets)
		xsk->options.sockets = strcpy(xsk->pins, known.sockets);
	if (!known.pins && !known.queues)
		xsk->options.queues = 1;
	xsk->area.frames = known.frames ? known.frames : 4096;
	xsk->area.ring = known.ring ? known.ring : 1024;
	xsk->options.function = strcpy(xsk->function, known.function);
	xsk->linked_fd = -1;
	xsk->control_fd = -1;
	r = xsk_start(xsk, why);
	if (r)
		xbond_xsk_close(xsk);
	else
		*ret = xsk;
	return r;
}

XSK_PUBLIC void xbond_xsk_close(struct xbond_xsk *xsk)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		xsk_close_slot(xsk, slot);
	choice_close(&xsk->choice);
	if (xsk->linked_fd >= 0)
		close(xsk->linked_fd);
	if (xsk->control_fd >= 0)
		close(xsk->control_fd);
	if (xsk->area.memory)
		munmap(xsk->area.memory, (size_t)xsk->area.frames * XBOND_XSK_FRAME_SIZE);
	free(xsk->area.free);
	free(xsk->area.holder);
	free(xsk);
}

XSK_PUBLIC void xbond_xsk_counts(const struct xbond_xsk *xsk, struct xbond_xsk_counts *ret,
				 size_t size)
{
	struct xbond_xsk_counts counts = xsk->counts;

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		counts.missed += xsk_missed_by(xsk, slot);
	memset(ret, 0, size);
	memcpy(ret, &counts, size < sizeof(counts) ? size : sizeof(counts));
}
