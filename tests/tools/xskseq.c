/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbered UDP packets for the tests, sent by libxbond-xsk: what udpseq send sends, with the same
 * payload. xskseq BOND SOURCE_MAC MAC RATE COUNT FLOWS [QUEUES], to 10.0.0.2; COUNT 0: until
 * SIGTERM. With QUEUES in zero-copy mode, by so many queues of each slave in turn. Prints "ready",
 * and at its end one JSON object.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_xdp.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/mac.h"
#include "network/packet.h"
#include "xbond/xsk.h"

#define PORT 9000
#define FIRST_SOURCE_PORT 20000
#define BATCH 32
#define MOST_QUEUES 8

struct datagram {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	__u32 sequence, flow, flow_sequence;
} __attribute__((packed));

static volatile sig_atomic_t ended;

static void end(int signal_number)
{
	ended = 1;
}

static struct datagram make(char **macs)
{
	struct datagram made = { .eth.h_proto = htons(ETH_P_IP) };

	if (mac_parse(macs[0], made.eth.h_source) || mac_parse(macs[1], made.eth.h_dest))
		exit(2);
	made.ip = (struct iphdr){ .version = 4,
				  .ihl = 5,
				  .ttl = 64,
				  .protocol = IPPROTO_UDP,
				  .tot_len = htons(sizeof(made) - sizeof(made.eth)),
				  .saddr = inet_addr("10.0.0.1"),
				  .daddr = inet_addr("10.0.0.2") };
	made.ip.check = checksum_end(checksum_add(0, &made.ip, sizeof(made.ip)));
	made.udp.dest = htons(PORT);
	made.udp.len = htons(sizeof(made) - sizeof(made.eth) - sizeof(made.ip));
	return made;
}

static void print_counts(__u32 made, struct xbond_xsk **handles, __u32 queues)
{
	struct xbond_xsk_counts sum = { 0 }, counts;

	for (__u32 i = 0; i < queues; i++) {
		xbond_xsk_counts(handles[i], &counts, sizeof(counts));
		sum.sent += counts.sent;
		sum.sent_bytes += counts.sent_bytes;
		sum.no_slave += counts.no_slave;
		sum.full += counts.full;
		sum.sent_again += counts.sent_again;
		sum.lost += counts.lost;
		sum.opened += counts.opened;
	}
	printf("{\"made\": %u, \"sent\": %llu, \"sent_bytes\": %llu, \"no_slave\": %llu, "
	       "\"full\": %llu, \"sent_again\": %llu, \"lost\": %llu, \"opened\": %llu}\n",
	       made, sum.sent, sum.sent_bytes, sum.no_slave, sum.full, sum.sent_again, sum.lost,
	       sum.opened);
}

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { .size = sizeof(options),
					     .bind = argc == 8 ? XDP_ZEROCOPY : 0 };
	struct xbond_xsk_frame frames[BATCH];
	struct xbond_xsk *handles[MOST_QUEUES];
	struct datagram datagram;
	char why[XBOND_XSK_WHY_SIZE];
	__u32 sequence = 0, batches = 0, rate, count, flows, queues = 1;
	__u64 begin_ns;

	if (argc == 8)
		queues = (__u32)atoi(argv[7]);
	if (argc < 7 || argc > 8 || !queues || queues > MOST_QUEUES) {
		fprintf(stderr, "usage: xskseq BOND SOURCE_MAC MAC RATE COUNT FLOWS [QUEUES]\n");
		return 2;
	}
	datagram = make(argv + 2);
	rate = (__u32)atoi(argv[4]);
	count = (__u32)atoi(argv[5]);
	flows = (__u32)atoi(argv[6]);
	for (; options.queue < queues; options.queue++) {
		if (xbond_xsk_open(&handles[options.queue], argv[1], &options, why)) {
			fprintf(stderr, "xskseq: %s\n", why);
			return 1;
		}
	}
	signal(SIGTERM, end);
	fprintf(stderr, "ready\n");
	begin_ns = clock_now_ns();
	while (!ended && (!count || sequence < count)) {
		struct xbond_xsk *xsk = handles[batches++ % queues];
		__u64 due = (clock_now_ns() - begin_ns) * rate / NS_PER_S;
		int most = due > sequence ? (int)(due - sequence) : 0, taken;

		if (most > BATCH)
			most = BATCH;
		if (count && most > (int)(count - sequence))
			most = (int)(count - sequence);
		taken = xbond_xsk_take(xsk, frames, most);
		for (int i = 0; i < taken; i++, sequence++) {
			datagram.sequence = sequence;
			datagram.flow = sequence % flows;
			datagram.flow_sequence = sequence / flows;
			datagram.udp.source = htons((__u16)(FIRST_SOURCE_PORT + datagram.flow));
			memcpy(frames[i].data, &datagram, sizeof(datagram));
			frames[i].length = sizeof(datagram);
		}
		xbond_xsk_send(xsk, frames, taken);
		if (most < BATCH)
			nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
	print_counts(sequence, handles, queues);
	for (__u32 i = 0; i < queues; i++)
		xbond_xsk_close(handles[i]);
	return 0;
}
