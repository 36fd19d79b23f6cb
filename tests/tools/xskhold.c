/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with AF_XDP sockets that does not receive until it is told. xskhold BOND PORT RING
 * prints "ready". For each line on stdin it receives all there is, gives it back to be sent as
 * frames that are too long, and prints its counts as JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "xbond/xsk.h"

#define BATCH 64

static void turn(struct xbond_xsk *xsk)
{
	struct xbond_xsk_frame frames[BATCH];
	int count;

	while ((count = xbond_xsk_receive(xsk, frames, BATCH)) > 0) {
		for (int i = 0; i < count; i++)
			frames[i].length = XBOND_XSK_FRAME_SIZE; /* it begins behind headroom */
		xbond_xsk_send(xsk, frames, count);
	}
}

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { .size = sizeof(options), .queues = XBOND_XSK_QUEUES };
	struct xbond_xsk_counts counts;
	char why[XBOND_XSK_WHY_SIZE], line[16];
	struct xbond_xsk *xsk;

	if (argc != 4) {
		fprintf(stderr, "usage: xskhold BOND PORT RING\n");
		return 2;
	}
	options.ports[0] = (__u16)atoi(argv[2]);
	options.ring = (__u32)atoi(argv[3]);
	if (xbond_xsk_open(&xsk, argv[1], &options, why)) {
		fprintf(stderr, "xskhold: %s\n", why);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		turn(xsk);
		xbond_xsk_counts(xsk, &counts);
		printf("{\"received\": %llu, \"missed\": %llu, \"sent\": %llu, \"lost\": %llu}\n",
		       counts.received, counts.missed, counts.sent, counts.lost);
		fflush(stdout);
	}
	xbond_xsk_close(xsk);
	return 0;
}
