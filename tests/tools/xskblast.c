/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames by AF_XDP as fast as one CPU makes them, for the benchmarks: `xskblast bond BOND` by
 * libxbond-xsk, `xskblast device DEVICE` by a socket on one device, without the library. Prints
 * what a frame has cost as one JSON object, in this thread's CPU time: that includes the reception,
 * which veth does in the sender's softirq.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_xdp.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "network/packet.h"
#include "xbond/xsk.h"

#define BATCH 64
#define FRAMES 4096 /* as the library has by default */
#define AREA ((size_t)FRAMES * XBOND_XSK_FRAME_SIZE)
#define FLOWS 64
#define FIRST_SOURCE_PORT 20000
#define OPEN_TRIES 200
#define OPEN_PAUSE_US 10000
#define CLOCK_EVERY 16 /* batches between two looks at the clock */

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
} __attribute__((packed));

/* Sends a batch of frames of so many bytes, and returns how many have left. */
struct sender {
	int (*send)(struct sender *sender, __u32 size);
	__u32 flow;
	struct xbond_xsk *xsk; /* or: */
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completed, rx;
	char *memory;
	__u64 free[FRAMES];
	__u32 free_count;
};

static struct headers headers;

static void die(const char *what)
{
	fprintf(stderr, "xskblast: %s\n", what);
	exit(1);
}

static void make_headers(__u32 size)
{
	headers = (struct headers){
		.eth = { .h_source = { 2, 0, 0, 0, 0, 1 },
			 .h_dest = { 2, 0, 0, 0, 0, 0x99 },
			 .h_proto = htons(ETH_P_IP) },
		.ip = { .version = 4,
			.ihl = 5,
			.ttl = 64,
			.protocol = IPPROTO_UDP,
			.tot_len = htons((__u16)(size - sizeof(headers.eth))),
			.saddr = inet_addr("10.0.0.1"),
			.daddr = inet_addr("10.0.0.2") },
		.udp = { .dest = htons(9),
			 .len = htons((__u16)(size - sizeof(headers.eth) - sizeof(headers.ip))) },
	};
	headers.ip.check = checksum_end(checksum_add(0, &headers.ip, sizeof(headers.ip)));
}

static void write_frame(struct sender *sender, void *frame)
{
	headers.udp.source = htons((__u16)(FIRST_SOURCE_PORT + sender->flow++ % FLOWS));
	memcpy(frame, &headers, sizeof(headers));
}

static int send_by_bond(struct sender *sender, __u32 size)
{
	struct xbond_xsk_frame frames[BATCH];
	int count = xbond_xsk_take(sender->xsk, frames, BATCH);

	for (int i = 0; i < count; i++) {
		write_frame(sender, frames[i].data);
		frames[i].length = size;
	}
	return xbond_xsk_send(sender->xsk, frames, count);
}

static void take_back(struct sender *sender)
{
	__u32 at, count = xsk_ring_cons__peek(&sender->completed, FRAMES, &at);

	for (__u32 i = 0; i < count; i++)
		sender->free[sender->free_count++] =
			*xsk_ring_cons__comp_addr(&sender->completed, at + i);
	xsk_ring_cons__release(&sender->completed, count);
}

static int send_by_device(struct sender *sender, __u32 size)
{
	__u32 at, count;

	take_back(sender);
	count = sender->free_count < BATCH ? sender->free_count : BATCH;
	if (xsk_ring_prod__reserve(&sender->tx, count, &at) != count)
		count = 0;
	for (__u32 i = 0; i < count; i++) {
		struct xdp_desc *desc = xsk_ring_prod__tx_desc(&sender->tx, at + i);

		desc->addr = sender->free[--sender->free_count];
		desc->len = size;
		write_frame(sender, sender->memory + desc->addr);
	}
	xsk_ring_prod__submit(&sender->tx, count);
	/* one call sends 32 */
	for (int i = 0; i < 2 && xsk_ring_prod__needs_wakeup(&sender->tx); i++)
		sendto(xsk_socket__fd(sender->socket), NULL, 0, MSG_DONTWAIT, NULL, 0);
	return (int)count;
}

static void open_bond(struct sender *sender, const char *bond)
{
	const struct xbond_xsk_options options = { .size = sizeof(options) };
	char why[XBOND_XSK_WHY_SIZE];

	if (xbond_xsk_open(&sender->xsk, bond, &options, why))
		die(why);
	sender->send = send_by_bond;
}

static int open_socket(struct sender *sender, const char *device)
{
	const struct xsk_umem_config umem = { .fill_size = 1024,
					      .comp_size = FRAMES,
					      .frame_size = XBOND_XSK_FRAME_SIZE };
	const struct xsk_socket_config socket = {
		.rx_size = 1024,
		.tx_size = 1024,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	int r = xsk_umem__create(&sender->umem, sender->memory, AREA, &sender->fill,
				 &sender->completed, &umem);

	if (r)
		return r;
	r = xsk_socket__create(&sender->socket, device, 0, sender->umem, &sender->rx, &sender->tx,
			       &socket);
	if (r)
		xsk_umem__delete(sender->umem);
	return r;
}

static void open_device(struct sender *sender, const char *device)
{
	int r = -EBUSY;

	sender->memory = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (sender->memory == MAP_FAILED)
		die(strerror(errno));
	/* the socket of a process that has ended lives a little longer */
	for (int try = 0; r == -EBUSY && try < OPEN_TRIES; try++) {
		if (try)
			usleep(OPEN_PAUSE_US);
		r = open_socket(sender, device);
	}
	if (r)
		die(strerror(-r));
	for (__u32 frame = 0; frame < FRAMES; frame++)
		sender->free[sender->free_count++] = (__u64)frame * XBOND_XSK_FRAME_SIZE;
	sender->send = send_by_device;
}

static double now_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static struct sender sender;
	unsigned long long sent = 0;
	double begin, end;
	cpu_set_t cpus;
	__u32 size;

	if (argc != 6) {
		fprintf(stderr, "usage: xskblast bond|device NAME BYTES SECONDS CPU\n");
		return 2;
	}
	size = (__u32)atoi(argv[3]);
	make_headers(size);
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[5]), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (!strcmp(argv[1], "bond"))
		open_bond(&sender, argv[2]);
	else
		open_device(&sender, argv[2]);
	end = now_s(CLOCK_MONOTONIC) + atof(argv[4]);
	begin = now_s(CLOCK_THREAD_CPUTIME_ID);
	while (now_s(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < CLOCK_EVERY; i++)
			sent += (unsigned long long)sender.send(&sender, size);
	if (!sent)
		die("nothing was sent");
	printf("{\"packets\": %llu, \"ns_per_packet\": %.2f}\n", sent,
	       (now_s(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9 / (double)sent);
	return 0;
}
