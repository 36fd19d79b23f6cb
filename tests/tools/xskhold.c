/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with AF_XDP sockets that does not receive until it is told. xskhold BOND PORT RING
 * [ADDRESS | TYPE | FILE.o | zerocopy] prints "ready". PORT 0: any. For each line on stdin it
 * receives all there is, gives it back to be sent as frames that are too long, and prints its
 * counts as JSON.
 */
#include <arpa/inet.h>
#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add(struct xbond_xsk_options *options, const char *text)
{
	if (strcmp(text, "zerocopy") == 0)
		options->bind = XDP_ZEROCOPY;
	else if (inet_pton(AF_INET, text, options->address) == 1)
		options->family = AF_INET;
	else if (inet_pton(AF_INET6, text, options->address) == 1)
		options->family = AF_INET6;
	else if (strstr(text, ".o"))
		options->function = text;
	else
		options->ether_type = (__u16)strtoul(text, NULL, 0);
}

/* The counts of a version that has more of them, and of one that has fewer. */
static bool counts_keep_to_the_size(const struct xbond_xsk *xsk)
{
	struct {
		struct xbond_xsk_counts counts;
		__u64 more, behind;
	} other;

	memset(&other, 0xff, sizeof(other));
	xbond_xsk_counts(xsk, &other.counts, offsetof(typeof(other), behind));
	if (other.counts.missed || other.more || !other.behind)
		return false;
	memset(&other, 0xff, sizeof(other));
	xbond_xsk_counts(xsk, &other.counts, offsetof(struct xbond_xsk_counts, missed));
	return !other.counts.received && other.counts.missed;
}

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { .size = sizeof(options), .queues = XBOND_XSK_QUEUES };
	struct xbond_xsk_counts counts;
	char why[XBOND_XSK_WHY_SIZE], line[16];
	struct xbond_xsk *xsk;

	if (argc != 4 && argc != 5) {
		fprintf(stderr,
			"usage: xskhold BOND PORT RING [ADDRESS | TYPE | FILE.o | zerocopy]\n");
		return 2;
	}
	options.ports[0] = (__u16)atoi(argv[2]);
	options.ring = (__u32)atoi(argv[3]);
	if (argc == 5)
		add(&options, argv[4]);
	if (xbond_xsk_open(&xsk, argv[1], &options, why)) {
		fprintf(stderr, "xskhold: %s\n", why);
		return 1;
	}
	if (!counts_keep_to_the_size(xsk)) {
		fprintf(stderr, "xskhold: counts do not keep to their size\n");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		turn(xsk);
		xbond_xsk_counts(xsk, &counts, sizeof(counts));
		printf("{\"received\": %llu, \"missed\": %llu, \"sent\": %llu, \"lost\": %llu}\n",
		       counts.received, counts.missed, counts.sent, counts.lost);
		fflush(stdout);
	}
	xbond_xsk_close(xsk);
	return 0;
}
