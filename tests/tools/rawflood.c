/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the frame on stdin out of a device for so many seconds: `rawflood DEV SECONDS [RATE]`, RATE
 * frames a second, or as fast as one CPU makes them. Prints how many frames went out. For the
 * tests; knows no protocol.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BATCH 64
#define MAX_FRAME 1514

static void die(const char *what)
{
	fprintf(stderr, "rawflood: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int open_socket(const char *device)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_ifindex = (int)if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (!at.sll_ifindex || fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die(device);
	return fd;
}

/* Sleeps until so many frames are due. */
static void pace(double began, uint64_t sent, double rate)
{
	double wait = began + (double)sent / rate - now();
	struct timespec time = { .tv_sec = (time_t)wait,
				 .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9) };

	if (wait > 0)
		nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
	static uint8_t frame[MAX_FRAME];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec part = { .iov_base = frame };
	double began, seconds, rate;
	uint64_t sent = 0;
	int fd, done;

	if (argc < 3 || argc > 4)
		die("usage: rawflood DEV SECONDS [RATE] <FRAME");
	seconds = atof(argv[2]);
	rate = argc > 3 ? atof(argv[3]) : 0;
	part.iov_len = fread(frame, 1, sizeof(frame), stdin);
	fd = open_socket(argv[1]);
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
	for (began = now(); now() < began + seconds; sent += done > 0 ? (uint64_t)done : 0) {
		done = sendmmsg(fd, messages, BATCH, 0);
		if (done < 0 && errno != ENOBUFS && errno != EAGAIN)
			die("sendmmsg");
		if (rate > 0)
			pace(began, sent, rate);
	}
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
