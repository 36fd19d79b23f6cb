/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * UDP echo by AF_XDP on a bond: echo BOND PORT. All else that arrives goes to the bond as always.
 * echo BOND DIRECTORY: pin.c has that directory, and asks for the port.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <xbond/xsk.h>

#define BATCH 64

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
} __attribute__((packed));

/* Sends it back where it came from. Returns whether it is IPv4 without options. */
static int turn(const struct xbond_xsk_frame *frame)
{
	struct headers *out = frame->data, in = *out;

	if (in.eth.h_proto != htons(ETH_P_IP) || in.ip.ihl != 5 || in.ip.protocol != IPPROTO_UDP)
		return 0;
	memcpy(out->eth.h_dest, in.eth.h_source, ETH_ALEN);
	memcpy(out->eth.h_source, in.eth.h_dest, ETH_ALEN);
	out->ip.saddr = in.ip.daddr;
	out->ip.daddr = in.ip.saddr;
	out->udp.source = in.udp.dest;
	out->udp.dest = in.udp.source;
	out->udp.check = 0; /* a sender on this machine may have left it to its NIC */
	return 1;
}

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { .size = sizeof(options), .queues = XBOND_XSK_QUEUES };
	struct xbond_xsk_frame frames[BATCH];
	char why[XBOND_XSK_WHY_SIZE];
	struct xbond_xsk *xsk;

	if (argc != 3)
		errx(2, "usage: echo BOND PORT|DIRECTORY");
	if (strchr(argv[2], '/'))
		options.sockets = argv[2];
	else
		options.ports[0] = (unsigned short)atoi(argv[2]);
	if (xbond_xsk_open(&xsk, argv[1], &options, why))
		errx(1, "%s", why);
	signal(SIGTERM, end);
	while (!ended) {
		int count = xbond_xsk_receive(xsk, frames, BATCH), echoed = 0;

		for (int i = 0; i < count; i++)
			if (turn(&frames[i]))
				frames[echoed++] = frames[i];
			else
				xbond_xsk_release(xsk, &frames[i], 1);
		xbond_xsk_send(xsk, frames, echoed);
		if (!count)
			xbond_xsk_wait(xsk, -1);
	}
	xbond_xsk_close(xsk);
	return 0;
}
