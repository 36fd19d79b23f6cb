/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small UDP packets as fast as one CPU makes them, for the benchmarks: `blast send` prints
 * what a packet has cost as one JSON object, in this thread's CPU time: that includes the
 * reception, which veth does in the sender's softirq, and not what other processes take
 * from the CPU. `blast sink` is a socket that takes packets as far as its filter, which
 * drops them without waking anybody. Knows nothing of bonds.
 */
#include <arpa/inet.h>
#include <err.h>
#include <getopt.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

#define BATCH 64
#define CLOCK_EVERY 32 /* batches between two looks at the clock */
#define MAX_SIZE 1472

struct options {
	struct sockaddr_in address;
	double seconds;
	uint32_t size;
	uint32_t flows; /* 0: one, of a connected socket; else by destination ports from port on */
	int cpu;
};

static void pin(int cpu)
{
	cpu_set_t cpus;

	if (cpu < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

/* Packets of one batch that went out; a full queue or an ICMP error is no reason to stop. */
static unsigned int send_batch(int fd, struct mmsghdr *messages)
{
	int sent = sendmmsg(fd, messages, BATCH, 0);

	return sent > 0 ? sent : 0;
}

static void fill_messages(struct mmsghdr *messages, struct iovec *data)
{
	for (int i = 0; i < BATCH; i++)
		messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = data, .msg_iovlen = 1 } };
}

/* The messages of the next batch belong to the next flows. */
static void turn_flows(const struct options *options, struct mmsghdr *messages)
{
	static struct sockaddr_in addresses[BATCH];
	static uint32_t next;

	for (int i = 0; i < BATCH; i++) {
		addresses[i] = options->address;
		addresses[i].sin_port =
			htons(ntohs(options->address.sin_port) + next++ % options->flows);
		messages[i].msg_hdr.msg_name = &addresses[i];
		messages[i].msg_hdr.msg_namelen = sizeof(addresses[i]);
	}
}

static void send_packets(const struct options *options)
{
	static uint8_t bytes[MAX_SIZE];
	struct iovec data = { .iov_base = bytes, .iov_len = options->size };
	struct mmsghdr messages[BATCH];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t start_ns, end_ns, packets = 0;

	if (fd < 0 || (!options->flows && connect(fd, (const struct sockaddr *)&options->address,
						  sizeof(options->address))))
		err(1, "socket");
	fill_messages(messages, &data);
	start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	end_ns = clock_now_ns() + options->seconds * 1e9;
	while (clock_now_ns() < end_ns) {
		for (int i = 0; i < CLOCK_EVERY; i++) {
			if (options->flows)
				turn_flows(options, messages);
			packets += send_batch(fd, messages);
		}
	}
	printf("{\"packets\": %llu, \"ns_per_packet\": %.2f}\n", (unsigned long long)packets,
	       packets ? (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / packets : 0.0);
}

static void sink(const struct options *options)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &drop };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    bind(fd, (const struct sockaddr *)&options->address, sizeof(options->address)))
		err(1, "sink");
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

static void usage(void)
{
	fprintf(stderr,
		"usage: blast send --to ADDRESS [--port P] [--size BYTES] [--seconds S] [--cpu N]\n"
		"                  [--flows N]\n"
		"       blast sink [--port P]\n");
	exit(2);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "to", required_argument, NULL, 'a' },
		{ "port", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'u' },
		{ "flows", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (letter) {
		case 'a':
			if (inet_pton(AF_INET, optarg, &options->address.sin_addr) != 1)
				usage();
			break;
		case 'p': options->address.sin_port = htons(atoi(optarg)); break;
		case 's': options->size = strtoul(optarg, NULL, 0); break;
		case 't': options->seconds = atof(optarg); break;
		case 'u': options->cpu = atoi(optarg); break;
		case 'f': options->flows = strtoul(optarg, NULL, 0); break;
		default: usage();
		}
	}
	if (options->size > MAX_SIZE || options->seconds <= 0)
		usage();
}

int main(int argc, char **argv)
{
	struct options options = { .address = { .sin_family = AF_INET, .sin_port = htons(9) },
				   .seconds = 1,
				   .size = 18,
				   .cpu = -1 };

	if (argc < 2)
		usage();
	parse_options(&options, argc - 1, argv + 1);
	pin(options.cpu);
	if (!strcmp(argv[1], "send") && options.address.sin_addr.s_addr)
		send_packets(&options);
	else if (!strcmp(argv[1], "sink"))
		sink(&options);
	else
		usage();
	return 0;
}
