/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xsk/xsk_port.c with a kernel that refuses frames: which of them have not left? And xsk/xsk_send.c
 * with what is for every slave: what is counted?
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "xsk/xsk_bond.h"
#include "tests/unit/unit.h"

#define RING 8

static __u32 numbers[4 * RING];
static __u16 holders[4 * RING];
static struct xdp_desc descriptors[RING];
static __u64 addresses[RING];
static __u32 sent, made, completed, reaped, flags; /* ends of the rings */
static __u32 taken;				   /* of those made; says_late: not in `sent` yet */
static int says_late;
static const int *answers; /* of sendto(): errno, ended by 0 */

int __wrap_xsk_socket__fd(const struct xsk_socket *socket);
ssize_t __wrap_sendto(int fd, const void *data, size_t length, int sendto_flags,
		      const struct sockaddr *to, socklen_t to_length);

int __wrap_xsk_socket__fd(const struct xsk_socket *socket)
{
	return -1;
}

/* EBUSY: the kernel has dropped the first frame of the ring. */
ssize_t __wrap_sendto(int fd, const void *data, size_t length, int sendto_flags,
		      const struct sockaddr *to, socklen_t to_length)
{
	if (!*answers) {
		sent = taken = made;
		return 0;
	}
	taken += *answers == EBUSY && taken != made;
	if (!says_late)
		sent = taken;
	errno = *answers++;
	return -1;
}

int __wrap_choice_select(struct choice *choice, void *frame, __u32 length)
{
	return XBOND_EVERY_SLAVE;
}

static int may_look, looks, asked_drivers, have_carrier;

int __wrap_choice_look(const struct choice *choice, __u64 *ret_lost)
{
	looks++;
	*ret_lost = 0;
	return may_look;
}

char *__wrap_if_indextoname(unsigned int ifindex, char *ret_name)
{
	return strcpy(ret_name, "eth0");
}

/* The kernel knows the devices only if they have carrier. */
int __wrap_ioctl(int fd, unsigned long what, ...)
{
	struct ifreq *request;
	va_list args;

	va_start(args, what);
	request = va_arg(args, struct ifreq *);
	va_end(args);
	if (what == SIOCETHTOOL) {
		asked_drivers++;
		((struct ethtool_value *)request->ifr_data)->data = 1;
	} else {
		request->ifr_flags = IFF_UP | IFF_RUNNING;
	}
	return have_carrier ? 0 : -1;
}

static void kernel_completes(__u64 address)
{
	addresses[completed++ % RING] = address;
}

static struct port make_port(void)
{
	static struct port zero;
	struct port fresh = zero;

	sent = taken = made = completed = reaped = flags = 0;
	says_late = 0;
	fresh.tx = (struct xsk_ring_prod){ .cached_cons = RING,
					   .mask = RING - 1,
					   .size = RING,
					   .producer = &made,
					   .consumer = &sent,
					   .ring = descriptors,
					   .flags = &flags };
	fresh.completed = (struct xsk_ring_cons){ .mask = RING - 1,
						  .size = RING,
						  .producer = &completed,
						  .consumer = &reaped,
						  .ring = addresses };
	return fresh;
}

static struct area make_area(void)
{
	static char memory[4 * RING * XBOND_XSK_FRAME_SIZE];

	memset(holders, 0, sizeof(holders));
	return (struct area){ .memory = memory,
			      .frames = 4 * RING,
			      .ring = RING,
			      .free = numbers,
			      .holder = holders };
}

static struct area area;
static struct port port;
static int stuck;

static int begin(void **state)
{
	area = make_area();
	port = make_port();
	return 0;
}

static int put(__u32 count)
{
	int count_put = 0;

	for (__u32 i = 0; i < count; i++)
		count_put += port_put(&port, &area, area_at(&area, i), 60);
	return count_put;
}

TEST(test_what_was_refused_before_the_device_was_down_has_not_left, begin)
{
	assert_int_equal(put(5), 5);
	answers = (const int[]){ EBUSY, EAGAIN, EBUSY, ENETDOWN, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 5);
	assert_true(stuck);
}

TEST(test_the_kernel_says_later_what_it_has_taken, begin)
{
	says_late = 1;
	assert_int_equal(put(5), 5);
	answers = (const int[]){ EBUSY, EBUSY, ENETDOWN, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 5);
}

/* As one that is too long for it: others were sent after that, so it is not cut. */
TEST(test_a_frame_that_the_device_drops, begin)
{
	assert_int_equal(put(5), 5);
	answers = (const int[]){ EBUSY, EBUSY, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 0);
	assert_int_equal(port.dropped, 2);
	assert_int_equal(port.dropped_bytes, 120);
}

/* The device has no room: what it has not taken leaves later. */
TEST(test_a_frame_that_is_dropped_before_the_ring_is_full, begin)
{
	static const int no_room[100] = { EBUSY, [1 ... 98] = EAGAIN };

	assert_int_equal(put(5), 5);
	answers = no_room;
	assert_int_equal(port_kick(&port, &area, &stuck), 0);
	assert_false(stuck);
	assert_int_equal(port.dropped, 1);
	assert_int_equal(port_left(&port), 4);
}

TEST(test_what_has_no_carrier_has_not_left, begin)
{
	assert_int_equal(put(4), 4);
	sent = taken = 1; /* one has left */
	answers = (const int[]){ EBUSY, EBUSY, EBUSY, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 3);
	assert_false(stuck);
	answers = (const int[]){ 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 0);
}

/* The kernel has taken frames from the ring, and not said that they have left. */
TEST(test_zero_copy_keeps_what_is_in_flight, begin)
{
	__u32 length;

	port.is_zero_copy = 1;
	flags = XDP_RING_NEED_WAKEUP;
	assert_int_equal(put(RING + 2), RING);
	sent = taken = made;
	assert_int_equal(put(1), 0);
	kernel_completes(0);
	kernel_completes(XBOND_XSK_FRAME_SIZE);
	answers = (const int[]){ ENETDOWN, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), RING - 2);
	assert_true(stuck);
	assert_ptr_equal(port_frame_at(&port, &area, RING - 2, &length), area_at(&area, 2));
	assert_int_equal(area.free_count, 2);
	assert_int_equal(put(3), 2);
}

/* EBUSY names no frame there, so calling again would not end, and count frames that are none. */
TEST(test_zero_copy_drops_no_single_frame, begin)
{
	port.is_zero_copy = 1;
	flags = XDP_RING_NEED_WAKEUP;
	assert_int_equal(put(3), 3);
	answers = (const int[]){ EBUSY, EBUSY, EBUSY, EBUSY, 0 };
	assert_int_equal(port_kick(&port, &area, &stuck), 3);
	assert_true(stuck);
}

/* Its kernel sends nothing. */
static struct port make_other_port(__u32 number, __u32 room)
{
	static struct xdp_desc ring[RING];
	static __u32 ends[2];
	struct port other = make_port();

	memset(ends, 0, sizeof(ends));
	other.number = number;
	other.tx.ring = ring;
	other.tx.size = other.tx.cached_cons = room;
	other.tx.producer = &ends[0];
	other.tx.consumer = &ends[1];
	other.completed.producer = other.completed.consumer = &ends[1];
	return other;
}

/* A handle of a bond with two slaves, and a frame that is for both. */
static struct xbond_xsk *make_handle(struct port first, struct port second)
{
	static struct xbond_table table = { .select_abi = XBOND_SELECT_ABI, .tx_mask = 3 };
	static struct xbond_afxdp afxdp;
	static struct xbond_xsk xsk;

	xsk = (struct xbond_xsk){ .choice = { .table = &table, .afxdp = &afxdp, .up = ~0ull },
				  .area = make_area(),
				  .slots = 3 };
	xsk.port[0][0] = first;
	xsk.port[1][0] = second;
	xsk.port[0][0].socket = xsk.port[1][0].socket = (struct xsk_socket *)holders;
	for (__u32 frame = 0; frame < 2; frame++)
		area_free(&xsk.area, frame);
	return &xsk;
}

static struct xbond_xsk_frame send_one(struct xbond_xsk *xsk)
{
	struct xbond_xsk_frame frame;

	assert_int_equal(xbond_xsk_take(xsk, &frame, 1), 1);
	frame.length = 60;
	assert_int_equal(xbond_xsk_send(xsk, &frame, 1), 1);
	return frame;
}

/* Whoever has the copy needs no other frame. */
TEST(test_what_one_slave_of_all_refuses_is_sent_by_the_others)
{
	struct xbond_xsk *xsk = make_handle(make_port(), make_other_port(1, RING));

	answers = (const int[]){ EBUSY, 0 };
	send_one(xsk);
	assert_int_equal(xsk->area.free_count, 0);
	assert_int_equal(xsk->counts.sent, 1);
	assert_int_equal(xsk->counts.sent_bytes, 60);
	assert_int_equal(xsk->counts.lost, 0);
}

/* It has sent the first frame before that, but kernels before 6.17 say so too late. */
TEST(test_who_is_cut_in_the_midst_is_noticed)
{
	struct xbond_xsk *xsk = make_handle(make_port(), make_other_port(1, RING));
	struct xbond_xsk_frame frames[2];

	for (__u32 frame = 2; frame < 4; frame++)
		area_free(&xsk->area, frame);
	assert_int_equal(xbond_xsk_take(xsk, frames, 2), 2);
	frames[0].length = frames[1].length = 60;
	says_late = 1;
	taken = 1;
	answers = (const int[]){ EBUSY, 0 };
	assert_int_equal(xbond_xsk_send(xsk, frames, 2), 2);
	assert_false(slots_have(xsk->choice.up, 0));
	assert_int_equal(xsk->counts.sent, 2);
	assert_int_equal(xsk->batch[0].tx_packets + xsk->choice.afxdp->slot[0].tx_packets, 1);
}

/* It was counted, so that it can be counted back. */
TEST(test_what_no_slave_of_all_sends_is_lost)
{
	struct xbond_xsk *xsk = make_handle(make_other_port(0, 0), make_port());

	xsk->port[1][0].number = 1;
	answers = (const int[]){ EBUSY, 0 };
	assert_int_equal(send_one(xsk).slot, 1);
	assert_int_equal(xsk->counts.sent, 0);
	assert_int_equal(xsk->counts.sent_bytes, 0);
	assert_int_equal(xsk->counts.lost, 1);
}

/* Both slaves have a frame, in zero-copy mode, and finish none. */
static struct xbond_xsk *make_still_handle(int can_look)
{
	struct xbond_xsk *xsk = make_handle(make_port(), make_other_port(1, RING));

	xsk->options.bind = XDP_ZEROCOPY;
	xsk->port[0][0].is_zero_copy = xsk->port[1][0].is_zero_copy = 1;
	answers = (const int[]){ 0 };
	may_look = can_look;
	have_carrier = 1;
	send_one(xsk);
	looks = asked_drivers = 0;
	xsk->still_ns = 0;
	xsk_rescue(xsk);
	may_look = have_carrier = 0;
	assert_int_equal(xsk->choice.up, ~0ull);
	return xsk;
}

/* It costs as much with one slave as with many. */
TEST(test_one_look_says_all_of_queues_that_stand_still)
{
	make_still_handle(1);
	assert_int_equal(looks, 1);
	assert_int_equal(asked_drivers, 0);
}

/* They answer only when nobody has the RTNL lock. */
TEST(test_drivers_are_not_asked_each_millisecond)
{
	__u64 began_ns = choice_time_ns();
	struct xbond_xsk *xsk = make_still_handle(0);

	assert_int_equal(asked_drivers, 2);
	assert_true(xsk->still_ns >= began_ns + XSK_LOOK_NS);
}
