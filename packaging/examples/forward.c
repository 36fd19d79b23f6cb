/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * A load balancer by AF_XDP on a bond: forward BOND PORT MAC... sends UDP and TCP packets that come
 * for the port on, by the same bond, to the machines with these addresses. They have the bond's IP
 * address on lo, and answer themselves. All else that arrives goes to the bond as always. Each
 * queue of the slaves has a handle and a thread.
 */
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbond/xsk.h>

#define BATCH 64
#define QUEUES 64
#define MACHINES 64

struct worker {
	pthread_t thread;
	struct xbond_xsk *xsk;
};

static unsigned char machines[MACHINES][ETH_ALEN];
static unsigned machine_count;
static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* Packets of a flow go to one machine: it is chosen by their addresses and ports. */
static unsigned flow_of(const unsigned char *frame)
{
	int ip6 = frame[12] == 0x86;
	const unsigned char *from = frame + (ip6 ? 22 : 26), *ports = frame + 54;
	unsigned sum = 0;

	if (!ip6)
		ports = frame + ETH_HLEN + (frame[ETH_HLEN] & 15) * 4;
	for (int i = 0; i < (ip6 ? 32 : 8); i++)
		sum = sum * 31 + from[i];
	return sum * 31 + ((unsigned)ports[0] << 8 | ports[1]);
}

/* Returns whether it was for the bond alone. */
static int turn(const struct xbond_xsk_frame *frame)
{
	struct ethhdr *eth = frame->data;

	if (eth->h_dest[0] & 1)
		return 0;
	memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	memcpy(eth->h_dest, machines[flow_of(frame->data) % machine_count], ETH_ALEN);
	return 1;
}

static void *work(void *argument)
{
	struct xbond_xsk *xsk = ((struct worker *)argument)->xsk;
	struct xbond_xsk_frame frames[BATCH];

	while (!ended) {
		int count = xbond_xsk_receive(xsk, frames, BATCH), kept = 0;

		for (int i = 0; i < count; i++)
			if (turn(&frames[i]))
				frames[kept++] = frames[i];
			else
				xbond_xsk_release(xsk, &frames[i], 1);
		if (kept)
			xbond_xsk_send(xsk, frames, kept);
		if (!count)
			xbond_xsk_wait(xsk, -1);
	}
	return NULL;
}

static int read_machines(char **text, int count)
{
	for (int i = 0; i < count && i < MACHINES; i++, machine_count++) {
		unsigned char *to = machines[i];

		if (sscanf(text[i], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &to[0], &to[1], &to[2], &to[3],
			   &to[4], &to[5]) != ETH_ALEN)
			return 0;
	}
	return count > 0;
}

/* As many as the slaves have queues. */
static int open_all(struct worker *workers, const char *bond, const char *port)
{
	struct xbond_xsk_options options = { .size = sizeof(options),
					     .ports[0] = (unsigned short)atoi(port) };
	char why[XBOND_XSK_WHY_SIZE];

	for (; options.queue < QUEUES; options.queue++) {
		int r = xbond_xsk_open(&workers[options.queue].xsk, bond, &options, why);

		if (r == -EINVAL && options.queue)
			break;
		if (r) {
			fprintf(stderr, "%s\n", why);
			exit(1);
		}
	}
	return (int)options.queue;
}

int main(int argc, char **argv)
{
	struct worker workers[QUEUES];
	struct xbond_xsk_counts counts;
	int queues;

	if (argc < 4 || !read_machines(argv + 3, argc - 3))
		errx(2, "usage: forward BOND PORT MAC...");
	signal(SIGTERM, end);
	queues = open_all(workers, argv[1], argv[2]);
	printf("%d queues\n", queues);
	fflush(stdout);
	for (int i = 0; i < queues; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (int i = 0; i < queues; i++) {
		pthread_join(workers[i].thread, NULL);
		xbond_xsk_counts(workers[i].xsk, &counts, sizeof(counts));
		printf("queue %d: %llu received, %llu missed, %llu sent, %llu again, %llu lost\n",
		       i, counts.received, counts.missed, counts.sent, counts.sent_again,
		       counts.lost + counts.full + counts.no_slave);
		xbond_xsk_close(workers[i].xsk);
	}
	return 0;
}
