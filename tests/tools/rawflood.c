/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the frame on stdin out of a device for so many seconds: `rawflood DEV SECONDS [RATE
 * [SIZE]]`, RATE frames a second, or, with 0 or none, as fast as one CPU makes them. With SIZE
 * there are many frames of so many bytes each, which are sent by turns. Prints how many frames went
 * out. For the tests; knows no protocol.
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
#define MAX_INPUT (1 << 20)

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
	struct iovec parts[BATCH];
	double seconds, rate;
	size_t length, size;
	uint64_t began_ns, end_ns, sent = 0;
	int fd, done;

	if (argc < 3 || argc > 5)
		errx(1, "usage: rawflood DEV SECONDS [RATE [SIZE]] <FRAMES");
	seconds = atof(argv[2]);
	rate = argc > 3 ? atof(argv[3]) : 0;
	length = fread(input, 1, sizeof(input), stdin);
	size = argc > 4 ? (size_t)atoi(argv[4]) : length;
	if (!size || size > length)
		err(1, "no frame");
	fd = open_socket(argv[1]);
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &parts[i], .msg_iovlen = 1 };
	began_ns = clock_now_ns();
	end_ns = began_ns + (uint64_t)(seconds * NS_PER_S);
	for (; clock_now_ns() < end_ns; sent += done > 0 ? (uint64_t)done : 0) {
		for (size_t i = 0; i < BATCH; i++)
			parts[i] =
				(struct iovec){ input + (sent + i) % (length / size) * size, size };
		done = sendmmsg(fd, messages, BATCH, 0);
		if (done < 0 && errno != ENOBUFS && errno != EAGAIN)
			err(1, "sendmmsg");
		if (rate > 0)
			pace(began_ns, sent, rate);
	}
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
