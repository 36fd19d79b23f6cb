/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the frame on stdin out of a device for so many seconds: `rawflood DEV SECONDS [RATE]`, RATE
 * times a second, or, with 0 or none, as often as one CPU does. Prints how often it went out. For
 * the tests; knows no protocol.
 */
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"

#define BATCH 64
#define MAX_INPUT (1 << 16)

static int open_socket(const char *device)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_ifindex = (int)if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (!at.sll_ifindex || fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(1, "%s", device);
	return fd;
}

/* Sleeps until so many frames are due. */
static void pace(uint64_t began_ns, uint64_t sent, double rate)
{
	uint64_t due_ns = began_ns + (uint64_t)((double)sent / rate * NS_PER_S);
	struct timespec due = { .tv_sec = (time_t)(due_ns / NS_PER_S),
				.tv_nsec = (long)(due_ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

int main(int argc, char **argv)
{
	static uint8_t input[MAX_INPUT];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec part = { .iov_base = input };
	double seconds, rate;
	uint64_t began_ns, end_ns, sent = 0;
	int fd, done;

	if (argc < 3 || argc > 4)
		errx(1, "usage: rawflood DEV SECONDS [RATE] <FRAME");
	seconds = atof(argv[2]);
	rate = argc > 3 ? atof(argv[3]) : 0;
	part.iov_len = fread(input, 1, sizeof(input), stdin);
	if (!part.iov_len)
		err(1, "no frame");
	fd = open_socket(argv[1]);
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
	began_ns = clock_now_ns();
	end_ns = began_ns + (uint64_t)(seconds * NS_PER_S);
	for (; clock_now_ns() < end_ns; sent += done > 0 ? (uint64_t)done : 0) {
		done = sendmmsg(fd, messages, BATCH, 0);
		if (done < 0 && errno != ENOBUFS && errno != EAGAIN)
			err(1, "sendmmsg");
		if (rate > 0)
			pace(began_ns, sent, rate);
	}
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
