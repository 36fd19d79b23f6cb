/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the frame on stdin out of a device, as fast as one CPU makes it, for so many seconds:
 * `rawflood DEV SECONDS`. Prints how many frames went out. For the tests; knows no protocol.
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
#include <unistd.h>

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
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (!at.sll_ifindex || fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die(device);
	return fd;
}

int main(int argc, char **argv)
{
	static uint8_t frame[MAX_FRAME];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec part = { .iov_base = frame };
	uint64_t sent = 0;
	double end;
	int fd, done;

	if (argc != 3)
		die("usage: rawflood DEV SECONDS <FRAME");
	part.iov_len = fread(frame, 1, sizeof(frame), stdin);
	fd = open_socket(argv[1]);
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1 };
	for (end = now() + atof(argv[2]); now() < end; sent += done > 0 ? (uint64_t)done : 0) {
		done = sendmmsg(fd, messages, BATCH, 0);
		if (done < 0 && errno != ENOBUFS && errno != EAGAIN)
			die("sendmmsg");
	}
	printf("%llu\n", (unsigned long long)sent);
	return 0;
}
