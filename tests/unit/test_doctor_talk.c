/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which conversations are answered, from packets by hand: cli/doctor/doctor_talk.c, doctor_sums.c;
 * and the filter of doctor_watch.c, run by the kernel on a pair of sockets.
 * tests/net/test_doctor.py has traffic.
 */
#include <string.h>

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)
#define SENT true
#define RECEIVED false
#define TO_BOND "\2\0\0\0\0\1"
#define SIZE 80

static struct talk talk;
static struct talk_sums sums[XBOND_MAX_SLAVES];
static uint64_t now_ns;
static uint8_t bytes[SIZE];

static int begin(void **state)
{
	now_ns = SECOND;
	talk_init(&talk, (const uint8_t *)TO_BOND, 1500);
	return 0;
}

static int end(void **state)
{
	talk_done(&talk);
	return 0;
}

static void put16(size_t at, uint16_t number)
{
	bytes[at] = (uint8_t)(number >> 8);
	bytes[at + 1] = (uint8_t)number;
}

/* Between 10.0.0.1, port `local`, and 10.0.0.`peer`, port `remote`. length: of the IP packet. */
static void make_ip(bool is_sent, uint8_t peer, uint8_t protocol, uint16_t local, uint16_t remote,
		    uint16_t length)
{
	const uint8_t here[4] = { 10, 0, 0, 1 }, there[4] = { 10, 0, 0, peer };

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, is_sent ? "\2\0\0\0\0\2" : TO_BOND, ETH_ALEN);
	put16(12, ETH_P_IP);
	bytes[14] = 0x45;
	put16(16, length);
	bytes[23] = protocol;
	memcpy(bytes + 26, is_sent ? here : there, 4);
	memcpy(bytes + 30, is_sent ? there : here, 4);
	put16(34, is_sent ? local : remote);
	put16(36, is_sent ? remote : local);
}

static uint32_t frame_length; /* 0: SIZE */

static void take_cut(bool is_sent, unsigned int slot, bool receives, uint32_t kept)
{
	struct tap_packet packet = { .time_ns = now_ns,
				     .bytes = bytes,
				     .kept = kept,
				     .length = frame_length ? frame_length : SIZE,
				     .vlan_tci = -1 };

	if (is_sent)
		talk_take_sent(&talk, slot, &packet);
	else
		talk_take_received(&talk, slot, receives, &packet);
}

static void take(bool is_sent, unsigned int slot)
{
	take_cut(is_sent, slot, true, SIZE);
}

static void tcp(bool is_sent, unsigned int slot, uint16_t port, uint8_t seq, uint8_t ack,
		uint16_t data)
{
	make_ip(is_sent, 2, IPPROTO_TCP, port, 443, 40 + data);
	bytes[41] = seq;
	bytes[45] = ack;
	bytes[46] = 0x50;
	bytes[47] = TH_ACK;
	take(is_sent, slot);
}

static void udp(bool is_sent, unsigned int slot, uint8_t peer, uint16_t port)
{
	make_ip(is_sent, peer, IPPROTO_UDP, port, 53, 60);
	take(is_sent, slot);
}

/* As long as it says. */
static void long_tcp(uint16_t data)
{
	frame_length = ETH_HLEN + 40 + data;
	tcp(SENT, 0, 1000, 20, 0, data);
	frame_length = 0;
}

static void echo(bool is_sent, unsigned int slot, uint8_t peer, uint8_t number)
{
	make_ip(is_sent, peer, IPPROTO_ICMP, 0, 0, 60);
	bytes[34] = is_sent ? 8 : 0;
	bytes[41] = number;
	take(is_sent, slot);
}

static void sum(void)
{
	talk_sum(&talk, now_ns, sums);
}

TEST(test_tcp_is_unanswered_only_if_sent_again, begin, end)
{
	tcp(SENT, 1, 1000, 10, 0, 5); /* its answer takes another way */
	tcp(SENT, 1, 1001, 10, 0, 5);
	tcp(SENT, 1, 1001, 10, 0, 5);
	tcp(SENT, 1, 1002, 0, 0, 0); /* no more than an acknowledgement */
	tcp(SENT, 1, 1002, 0, 0, 0);
	sum();
	assert_int_equal(sums[1].unanswered, 1);
	assert_int_equal(sums[1].asked, 1);
	assert_int_equal(sums[1].owed, 1);
}

TEST(test_tcp_is_answered_by_a_later_acknowledgement, begin, end)
{
	tcp(RECEIVED, 0, 1000, 0, 10, 5); /* of what was sent before */
	tcp(SENT, 1, 1000, 10, 0, 5);
	tcp(SENT, 1, 1000, 10, 0, 5);
	sum();
	assert_int_equal(sums[1].unanswered, 1);
	tcp(RECEIVED, 0, 1000, 0, 15, 0);
	sum();
	assert_int_equal(sums[1].answered, 1);
	assert_int_equal(sums[1].unanswered, 0);
}

TEST(test_what_was_lost_before_is_sent_again, begin, end)
{
	tcp(SENT, 1, 1000, 30, 0, 5);
	tcp(SENT, 1, 1000, 10, 0, 5);
	tcp(SENT, 1, 1000, 10, 0, 5);
	sum();
	assert_int_equal(sums[1].unanswered, 1);
}

TEST(test_one_way_udp_is_owed_nothing, begin, end)
{
	for (uint16_t port = 1000; port < 1008; port++)
		udp(SENT, port & 1, 2, port);
	now_ns += 2 * SECOND;
	sum();
	assert_int_equal(sums[1].asked + sums[1].unanswered, 0);
	assert_int_equal(sums[1].proven + sums[1].expected + sums[1].owed + sums[1].peers, 0);
}

TEST(test_a_service_that_answers_over_another_slave, begin, end)
{
	udp(SENT, 0, 2, 1000);
	udp(RECEIVED, 1, 2, 1000);
	udp(SENT, 1, 2, 1001);
	udp(SENT, 1, 3, 1002); /* another peer */
	udp(SENT, 0, 2, 1003);
	now_ns += 2 * SECOND;
	sum();
	assert_int_equal(sums[1].unanswered, 1);
	assert_int_equal(sums[1].proven, 1);
	assert_int_equal(sums[0].answered, 1);
	assert_int_equal(sums[0].proven, 0);
	assert_int_equal(sums[0].expected, 1);
	assert_int_equal(sums[1].hears, 1);
}

TEST(test_echoes_have_a_while, begin, end)
{
	for (uint8_t number = 0; number < 4; number++)
		echo(SENT, 0, 2 + number, number);
	echo(RECEIVED, 1, 2, 0);
	now_ns += SECOND / 2;
	sum();
	assert_int_equal(sums[0].answered, 1);
	assert_int_equal(sums[0].unanswered, 0);
	now_ns += SECOND;
	sum();
	assert_int_equal(sums[0].unanswered, 3);
	assert_int_equal(sums[0].peers, 3);
	assert_int_equal(sums[0].heard, 0);
}

static void take_times(uint8_t number, unsigned int slot, unsigned int back, uint64_t ms)
{
	echo(SENT, slot, 2, number);
	now_ns += ms * SECOND / 1000;
	echo(RECEIVED, back, 2, number);
}

TEST(test_a_slave_whose_answers_are_late, begin, end)
{
	for (uint8_t number = 0; number < 6; number++)
		take_times(number, 0, 2, number < 4 ? 1 : 100);
	sum();
	assert_int_equal(sums[0].times[TALK_SENT].all, 6);
	assert_int_equal(sums[0].times[TALK_SENT].late, 0); /* nothing to compare with */
	take_times(10, 1, 2, 90);
	take_times(11, 1, 1, 5); /* not worth telling */
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].all, 2);
	assert_int_equal(sums[1].times[TALK_SENT].late, 1);
	assert_int_equal(sums[1].times[TALK_SENT].late_ns, 90 * SECOND / 1000);
	assert_int_equal(sums[1].times[TALK_SENT].quick_ns, SECOND / 1000);
	assert_int_equal(sums[2].times[TALK_RECEIVED].all, 7);
	assert_int_equal(sums[2].times[TALK_RECEIVED].late, 0);
	take_times(4, 0, 2, 0); /* asked twice: which was answered? */
	take_times(5, 0, 2, 0);
	for (uint8_t number = 6; number < 9; number++)
		take_times(number, 0, 2, 100); /* three of seven are as slow */
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].late, 1);
	take_times(9, 0, 2, 100);
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].late, 0);
}

/* The questions go by both slaves, and the answers to half of each come by a slow one. */
TEST(test_a_slave_that_brings_answers_late, begin, end)
{
	for (uint8_t number = 0; number < 16; number++)
		take_times(number, number & 1, number & 2 ? 2 : 3, number & 2 ? 100 : 1);
	sum();
	assert_int_equal(sums[0].times[TALK_SENT].late + sums[1].times[TALK_SENT].late, 0);
	assert_int_equal(sums[2].times[TALK_RECEIVED].all, 8);
	assert_int_equal(sums[2].times[TALK_RECEIVED].late, 8);
	assert_int_equal(sums[3].times[TALK_RECEIVED].all, 8);
	assert_int_equal(sums[3].times[TALK_RECEIVED].late, 0);
}

TEST(test_tcp_is_timed_by_its_acknowledgement, begin, end)
{
	for (uint16_t port = 1000; port < 1004; port++) {
		tcp(SENT, port == 1003, port, 10, 0, 5);
		now_ns += SECOND / 1000;
		tcp(RECEIVED, 0, port, 0, 10, 5); /* of what was sent before */
		now_ns += port == 1003 ? SECOND / 10 : 0;
		tcp(RECEIVED, 0, port, 0, 15, 0);
	}
	tcp(RECEIVED, 0, 1004, 0, 15, 0); /* read before its question */
	now_ns += SECOND;
	tcp(SENT, 1, 1004, 10, 0, 5);
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].all, 1);
	assert_int_equal(sums[1].times[TALK_SENT].late, 1);
	tcp(SENT, 1, 1003, 15, 0, 5); /* quickly: 51 ms on average */
	now_ns += SECOND / 1000;
	tcp(RECEIVED, 0, 1003, 0, 20, 0);
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].late_ns, 51 * SECOND / 1000);
}

TEST(test_what_is_sent_again_is_not_timed, begin, end)
{
	tcp(SENT, 1, 1003, 10, 0, 5);
	now_ns += SECOND;
	tcp(SENT, 1, 1003, 10, 0, 5);
	tcp(RECEIVED, 0, 1003, 0, 15, 0);
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].all, 0);
	tcp(SENT, 1, 1003, 15, 0, 5);
	tcp(SENT, 1, 1003, 20, 0, 5);
	tcp(RECEIVED, 0, 1003, 0, 25, 0);
	sum();
	assert_int_equal(sums[1].times[TALK_SENT].all, 1);
}

TEST(test_what_several_slaves_carry_is_nobodys, begin, end)
{
	udp(SENT, 0, 2, 1000);
	udp(SENT, 1, 2, 1000);
	now_ns += 2 * SECOND;
	sum();
	assert_int_equal(sums[0].asked + sums[1].asked, 0);
}

TEST(test_frames_that_come_by_a_backup_alone, begin, end)
{
	make_ip(RECEIVED, 2, IPPROTO_UDP, 1000, 53, 60);
	take_cut(RECEIVED, 1, false, SIZE);
	take_cut(RECEIVED, 1, false, SIZE);
	sum();
	assert_int_equal(sums[1].alone, 2);
	assert_int_equal(sums[1].hears, 0);
	take_cut(RECEIVED, 0, true, SIZE); /* it was flooded */
	sum();
	assert_int_equal(sums[1].alone, 0);
	bytes[0] = 6; /* for another device */
	take_cut(RECEIVED, 1, false, SIZE);
	sum();
	assert_int_equal(sums[1].alone, 0);
}

/* Each link's receive offload has merged other segments. */
TEST(test_flooded_tcp_is_known_by_its_flow, begin, end)
{
	tcp(RECEIVED, 0, 1000, 10, 0, 20);
	make_ip(RECEIVED, 2, IPPROTO_TCP, 1000, 443, 45);
	bytes[41] = 15;
	bytes[46] = 0x50;
	take_cut(RECEIVED, 1, false, SIZE);
	sum();
	assert_int_equal(sums[1].alone, 0);
}

TEST(test_segments_that_come_again, begin, end)
{
	for (uint8_t seq = 10; seq < 100; seq += 10)
		tcp(SENT, 0, 1000, seq, 0, 10);
	tcp(SENT, 0, 1000, 50, 0, 10);
	tcp(SENT, 0, 1000, 100, 0, 0); /* no data */
	tcp(SENT, 0, 1000, 100, 0, 10);
	tcp(RECEIVED, 0, 1000, 30, 0, 10);
	tcp(RECEIVED, 0, 1000, 10, 0, 10); /* it was lost before */
	sum();
	assert_int_equal(sums[0].sent.all, 11);
	assert_int_equal(sums[0].sent.again, 1);
	assert_int_equal(sums[0].got.all, 2);
	assert_int_equal(sums[0].got.again, 1);
	tcp(RECEIVED, 1, 1000, 40, 0, 10); /* whose order is not known */
	sum();
	assert_int_equal(sums[0].sent.all + sums[1].sent.all, 0);
	assert_int_equal(sums[0].got.all + sums[1].got.all, 0);
}

TEST(test_long_segments_that_are_lost, begin, end)
{
	tcp(SENT, 0, 1000, 10, 0, 10);
	long_tcp(1400);
	tcp(RECEIVED, 0, 1000, 1, 20, 10);
	long_tcp(1400);
	sum();
	assert_int_equal(sums[0].long_lost, 0);
	long_tcp(1000); /* a part of it */
	sum();
	assert_int_equal(sums[0].long_lost, 1);
	assert_int_equal(sums[0].shortest_lost, ETH_HLEN + 40 + 1000);
	tcp(RECEIVED, 0, 1000, 1, 21, 10);
	sum();
	assert_int_equal(sums[0].long_lost, 0);
	assert_int_equal(sums[0].longest_answered, ETH_HLEN + 40 + 1000);
}

TEST(test_questions_that_are_too_long, begin, end)
{
	echo(SENT, 0, 2, 1);
	echo(RECEIVED, 0, 2, 1);
	frame_length = 1400;
	echo(SENT, 0, 2, 2);
	echo(SENT, 0, 3, 3); /* its peer is not there */
	frame_length = 0;
	now_ns += 2 * SECOND;
	sum();
	assert_int_equal(sums[0].long_lost, 1);
	assert_int_equal(sums[0].short_lost, 0);
	assert_int_equal(sums[0].shortest_lost, 1400);
	assert_int_equal(sums[0].longest_answered, SIZE);
	frame_length = 100000; /* what the device segments */
	echo(SENT, 0, 2, 4);
	frame_length = 0;
	echo(RECEIVED, 0, 2, 4);
	sum();
	assert_int_equal(sums[0].longest_answered, 1514);
}

static void arp(bool is_sent, const char *to, uint8_t sender)
{
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, to, ETH_ALEN);
	memcpy(bytes + 6, TO_BOND, ETH_ALEN);
	put16(12, ETH_P_ARP);
	put16(16, ETH_P_IP);
	bytes[21] = 1;
	memcpy(bytes + 22, TO_BOND, ETH_ALEN);
	memcpy(bytes + 28, (uint8_t[4]){ 10, 0, 0, sender }, 4);
	memcpy(bytes + 38, (uint8_t[4]){ 10, 0, 0, 99 }, 4);
	take(is_sent, 1);
}

TEST(test_another_host_with_the_address_of_the_bond, begin, end)
{
	const uint8_t twin[4] = { 10, 0, 0, 7 };

	arp(SENT, "\xff\xff\xff\xff\xff\xff", 1);
	arp(RECEIVED, "\xff\xff\xff\xff\xff\xff", 1); /* flooded by a switch */
	sum();
	assert_int_equal(sums[1].twin_ip[0], 0);
	arp(RECEIVED, "\xff\xff\xff\xff\xff\xff", 7);
	sum();
	assert_memory_equal(sums[1].twin_ip, twin, sizeof(twin));
	assert_int_equal(sums[1].from_self, 0);
	arp(RECEIVED, TO_BOND, 7);
	sum();
	assert_int_equal(sums[1].from_self, 1);
}

TEST(test_lacpdus_are_counted, begin, end)
{
	memset(bytes, 0, sizeof(bytes));
	put16(12, ETH_P_SLOW);
	bytes[14] = 2; /* a marker */
	take(RECEIVED, 1);
	bytes[14] = 1;
	take(RECEIVED, 1);
	sum();
	assert_int_equal(sums[1].lacpdus, 1);
}

/* With the tag in the frame, as on NICs that do not insert it. */
static void put_tag(void)
{
	memmove(bytes + 16, bytes + 12, sizeof(bytes) - 16);
	put16(12, ETH_P_8021Q);
	put16(14, 5);
}

TEST(test_tagged_frames, begin, end)
{
	make_ip(SENT, 2, IPPROTO_UDP, 1000, 53, 60);
	put_tag();
	take(SENT, 0);
	udp(RECEIVED, 1, 2, 1000);
	sum();
	assert_int_equal(sums[0].answered, 1);
}

TEST(test_packets_of_every_length, begin, end)
{
	static const uint16_t types[] = { ETH_P_IP,    ETH_P_IPV6, ETH_P_ARP,
					  ETH_P_8021Q, ETH_P_SLOW, 0xffff };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (uint32_t kept = 0; kept <= SIZE; kept++)
			for (unsigned int fill = 0; fill < 256; fill += 5) {
				memset(bytes, (int)fill, sizeof(bytes));
				put16(12, types[i]);
				take_cut(SENT, 0, true, kept);
				take_cut(RECEIVED, 0, fill & 1, kept);
			}
	sum();
}

static bool filter_takes(uint32_t one_of)
{
	struct sock_filter code[TALK_FILTER];
	const struct sock_fprog program = { TALK_FILTER, code };
	uint8_t got[SIZE];
	bool takes;
	int pair[2];

	talk_filter(one_of, code);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(
		setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
	takes = send(pair[0], bytes, sizeof(bytes), 0) == sizeof(bytes) &&
		recv(pair[1], got, sizeof(got), 0) == sizeof(bytes);
	close(pair[0]);
	close(pair[1]);
	return takes;
}

static void make_ip6(bool is_sent, uint16_t port)
{
	memset(bytes, 0, sizeof(bytes));
	put16(12, ETH_P_IPV6);
	bytes[14] = 0x60;
	bytes[20] = IPPROTO_TCP;
	bytes[is_sent ? 37 : 53] = 1;
	bytes[is_sent ? 53 : 37] = 2;
	put16(is_sent ? 54 : 56, port);
	put16(is_sent ? 56 : 54, 443);
}

TEST(test_the_filter_takes_both_directions_of_a_flow)
{
	unsigned int taken = 0, taken6 = 0;

	for (uint16_t port = 1000; port < 1400; port++) {
		bool takes;

		make_ip(SENT, 2, IPPROTO_TCP, port, 443, 60);
		assert_true(filter_takes(1));
		taken += takes = filter_takes(4);
		make_ip(RECEIVED, 2, IPPROTO_TCP, port, 443, 60);
		assert_int_equal(filter_takes(4), takes);
		put_tag();
		assert_int_equal(filter_takes(4), takes);
		make_ip6(SENT, port);
		assert_true(filter_takes(1));
		taken6 += takes = filter_takes(4);
		make_ip6(RECEIVED, port);
		assert_int_equal(filter_takes(4), takes);
		put_tag();
		assert_int_equal(filter_takes(4), takes);
	}
	assert_in_range(taken, 50, 150);
	assert_in_range(taken6, 50, 150);
}

TEST(test_what_the_filter_takes)
{
	make_ip(SENT, 2, IPPROTO_ICMP, 0, 0, 60);
	assert_true(filter_takes(1));
	put16(20, 100); /* a later fragment */
	assert_false(filter_takes(1));
	put16(12, ETH_P_ARP);
	assert_true(filter_takes(1000));
	put_tag();
	assert_true(filter_takes(1000));
	put16(16, ETH_P_SLOW);
	assert_false(filter_takes(1));
	put16(12, ETH_P_SLOW);
	assert_true(filter_takes(1000));
	put16(12, ETH_P_LLDP);
	assert_false(filter_takes(1));
}
