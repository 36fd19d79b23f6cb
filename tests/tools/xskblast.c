/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames by AF_XDP as fast as one CPU makes them, for the benchmarks: `xskblast bond BOND` by
 * libxbond-xsk, `xskblast device DEVICE` by a socket on one device, without the library. Prints
 * what a frame has cost as one JSON object, in this thread's CPU time: that includes the reception,
 * which veth does in the sender's softirq.
 *
 * With NETNS and devices there, the other way: each batch leaves by the next of these devices, and
 * BOND, DEVICE or a UDP socket (`xskblast socket any`) receives it. What a frame costs is its whole
 * way then.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "common/clock.h"
#include "network/packet.h"
#include "xbond/xsk.h"

#define BATCH 64
#define FRAMES 4096 /* as the library has by default */
#define AREA ((size_t)FRAMES * XBOND_XSK_FRAME_SIZE)
#define FLOWS 64
#define PORT 9
#define MOST_DEVICES 4
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

/* Receives what there is, and returns how many frames that was. */
struct receiver {
	int (*receive)(struct receiver *receiver);
	struct xbond_xsk *xsk; /* or: */
	struct sender device;  /* or: */
	int fd;
};

static struct headers headers;

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
			.saddr = inet_addr("10.0.0.3"),
			.daddr = inet_addr("10.0.0.2") },
		.udp = { .dest = htons(PORT),
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
		errx(1, "%s", why);
	sender->send = send_by_bond;
}

/* receives: by libxdp's own program. */
static int open_socket(struct sender *sender, const char *device, int receives)
{
	const struct xsk_umem_config umem = { .fill_size = 1024,
					      .comp_size = FRAMES,
					      .frame_size = XBOND_XSK_FRAME_SIZE };
	const struct xsk_socket_config socket = {
		.rx_size = 1024,
		.tx_size = 1024,
		.libxdp_flags = receives ? 0 : XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.xdp_flags = XDP_FLAGS_DRV_MODE,
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

static void open_device(struct sender *sender, const char *device, int receives)
{
	int r = -EBUSY;

	sender->memory = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (sender->memory == MAP_FAILED)
		err(1, NULL);
	/* the socket of a process that has ended lives a little longer */
	for (int try = 0; r == -EBUSY && try < OPEN_TRIES; try++) {
		if (try)
			usleep(OPEN_PAUSE_US);
		r = open_socket(sender, device, receives);
	}
	if (r)
		errx(1, "%s", strerror(-r));
	for (__u32 frame = 0; frame < FRAMES; frame++)
		sender->free[sender->free_count++] = (__u64)frame * XBOND_XSK_FRAME_SIZE;
	sender->send = send_by_device;
}

static int receive_by_bond(struct receiver *receiver)
{
	struct xbond_xsk_frame frames[BATCH];
	int count = xbond_xsk_receive(receiver->xsk, frames, BATCH);

	xbond_xsk_release(receiver->xsk, frames, count);
	return count;
}

static void fill(struct sender *device, __u32 count)
{
	__u32 at;

	if (!count || xsk_ring_prod__reserve(&device->fill, count, &at) != count)
		return;
	for (__u32 i = 0; i < count; i++)
		*xsk_ring_prod__fill_addr(&device->fill, at + i) =
			device->free[--device->free_count];
	xsk_ring_prod__submit(&device->fill, count);
}

static int receive_by_device(struct receiver *receiver)
{
	struct sender *device = &receiver->device;
	__u32 at, count = xsk_ring_cons__peek(&device->rx, BATCH, &at);

	for (__u32 i = 0; i < count; i++)
		device->free[device->free_count++] =
			xsk_ring_cons__rx_desc(&device->rx, at + i)->addr;
	xsk_ring_cons__release(&device->rx, count);
	fill(device, count);
	return (int)count;
}

static int receive_by_socket(struct receiver *receiver)
{
	static char room[BATCH][XBOND_XSK_FRAME_SIZE];
	struct iovec parts[BATCH];
	struct mmsghdr messages[BATCH];
	int count;

	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < BATCH; i++) {
		parts[i] = (struct iovec){ room[i], sizeof(room[i]) };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	count = recvmmsg(receiver->fd, messages, BATCH, MSG_DONTWAIT, NULL);
	return count < 0 ? 0 : count;
}

static void open_receiver(struct receiver *receiver, const char *kind, const char *name)
{
	const struct xbond_xsk_options options = { .size = sizeof(options), .ports = { PORT } };
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	char why[XBOND_XSK_WHY_SIZE];

	if (!strcmp(kind, "bond")) {
		receiver->receive = receive_by_bond;
		if (xbond_xsk_open(&receiver->xsk, name, &options, why))
			errx(1, "%s", why);
	} else if (!strcmp(kind, "device")) {
		receiver->receive = receive_by_device;
		open_device(&receiver->device, name, 1);
		fill(&receiver->device, 1024);
	} else {
		receiver->receive = receive_by_socket;
		receiver->fd = socket(AF_INET, SOCK_DGRAM, 0);
		if (bind(receiver->fd, (const struct sockaddr *)&any, sizeof(any)))
			err(1, NULL);
	}
}

/* Returns how many there are. */
static int open_sources(struct sender *sources, const char *namespace, char **devices, int count)
{
	int there = open(namespace, O_RDONLY | O_CLOEXEC);
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (there < 0 || setns(there, CLONE_NEWNET))
		err(1, NULL);
	for (int i = 0; i < count && i < MOST_DEVICES; i++)
		open_device(&sources[i], devices[i], 0);
	setns(here, CLONE_NEWNET);
	return count;
}

/* Returns how many frames have left. */
static unsigned long long send_until(uint64_t end_ns, struct sender *sender, __u32 size)
{
	unsigned long long sent = 0;

	while (clock_now_ns() < end_ns)
		for (int i = 0; i < CLOCK_EVERY; i++)
			sent += (unsigned long long)sender->send(sender, size);
	return sent;
}

/* Returns how many frames have come. */
static unsigned long long receive_until(uint64_t end_ns, struct receiver *receiver,
					struct sender *sources, int count, __u32 size)
{
	unsigned long long sent = 0, received = 0;

	for (int turn = 0; turn % CLOCK_EVERY || clock_now_ns() < end_ns; turn++) {
		struct sender *source = &sources[turn % count];
		int came;

		sent += (unsigned long long)source->send(source, size);
		while ((came = receiver->receive(receiver)))
			received += (unsigned long long)came;
	}
	if (received < sent / 100 * 99)
		errx(1, "frames were lost");
	return received;
}

int main(int argc, char **argv)
{
	static struct sender sender, sources[MOST_DEVICES];
	static struct receiver receiver;
	unsigned long long frames;
	uint64_t begin_ns, end_ns;
	cpu_set_t cpus;
	__u32 size;
	int count = 0;

	if (argc != 6 && argc < 8) {
		fprintf(stderr, "usage: xskblast bond|device|socket NAME BYTES SECONDS CPU "
				"[NETNS DEVICE...]\n");
		return 2;
	}
	size = (__u32)atoi(argv[3]);
	make_headers(size);
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[5]), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (argc > 6) {
		open_receiver(&receiver, argv[1], argv[2]);
		count = open_sources(sources, argv[6], argv + 7, argc - 7);
	} else if (!strcmp(argv[1], "bond")) {
		open_bond(&sender, argv[2]);
	} else {
		open_device(&sender, argv[2], 0);
	}
	end_ns = clock_now_ns() + (uint64_t)(atof(argv[4]) * NS_PER_S);
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	frames = count ? receive_until(end_ns, &receiver, sources, count, size)
		       : send_until(end_ns, &sender, size);
	if (!frames)
		errx(1, "nothing was sent");
	if (receiver.device.socket)
		xsk_socket__delete(receiver.device.socket); /* its program would stay */
	printf("{\"packets\": %llu, \"ns_per_packet\": %.2f}\n", frames,
	       (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / (double)frames);
	return 0;
}
