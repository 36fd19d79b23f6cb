/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbered UDP packets for the tests: `udpseq send` paces them over one or many
 * flows (source ports), `udpseq recv` counts what came, what is missing, out of
 * order and double. Both print one JSON object at their end: when the count is
 * reached or at SIGTERM. Both ends are on one machine, so numbers are in host order.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define MAX_FLOWS 65536
#define MAX_SEQUENCE (64u << 20)
#define MAX_LATE 32 /* packets that a late sender catches up in one go */
#define MAX_GAPS 64
#define DRAIN_MS 200 /* after SIGTERM the receiver waits until this long nothing came */

struct packet {
	uint32_t sequence; /* over all flows */
	uint32_t flow;
	uint32_t flow_sequence;
};

struct options {
	struct sockaddr_storage address;
	socklen_t address_size;
	uint64_t count; /* 0: until SIGTERM */
	uint32_t rate, size, flows, source_port, port, priority;
	/* The receiver looks so often. 0: each packet wakes it, which makes sending slow. */
	uint32_t every_ms;
	/*
	 * So far ahead of its time a packet may be sent. 0: the sender sleeps before each of them,
	 * which is most of what a packet costs.
	 */
	uint32_t early_us;
	int cpu;
};

struct gap {
	uint32_t from, lost;
};

struct reception {
	uint8_t *seen; /* bit per sequence number */
	uint32_t *next_of_flow;
	uint64_t received, duplicates, reordered, foreign;
	uint32_t highest; /* sequence number + 1 */
	uint64_t last_ns, longest_silence_ns;
	struct gap gaps[MAX_GAPS];
	unsigned int gap_count;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = 1;
}

static void sleep_until(uint64_t when_ns)
{
	struct timespec when = { .tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

static void resolve(struct options *options, const char *text)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found)) {
		fprintf(stderr, "udpseq: %s is no address\n", text);
		exit(2);
	}
	memcpy(&options->address, found->ai_addr, found->ai_addrlen);
	options->address_size = found->ai_addrlen;
	freeaddrinfo(found);
}

static int flow_socket(const struct options *options, uint32_t flow)
{
	struct sockaddr_storage source = { .ss_family = options->address.ss_family };
	int one = 1, fd = socket(source.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	if (options->priority &&
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &options->priority, sizeof(options->priority)))
		err(1, "SO_PRIORITY");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	set_port(&source, options->source_port + flow);
	if (bind(fd, (struct sockaddr *)&source, options->address_size))
		err(1, "bind");
	if (connect(fd, (const struct sockaddr *)&options->address, options->address_size))
		err(1, "connect");
	return fd;
}

static int *open_flows(const struct options *options)
{
	int *fds = calloc(options->flows, sizeof(*fds));
	uint32_t flow;

	for (flow = 0; flow < options->flows; flow++)
		fds[flow] = flow_socket(options, flow);
	return fds;
}

/*
 * An ICMP error of the far end (nobody listens there) is told by a send that then sends nothing:
 * once more.
 */
static bool send_one(int fd, const uint8_t *data, size_t size)
{
	ssize_t sent = send(fd, data, size, 0);

	if (sent < 0 && errno == ECONNREFUSED)
		sent = send(fd, data, size, 0);
	return sent == (ssize_t)size;
}

static void send_packets(const struct options *options)
{
	uint64_t period_ns = 1000000000ull / options->rate, began_ns, next_ns, sent, failed = 0;
	uint8_t *data = calloc(1, options->size);
	int *fds = open_flows(options);

	began_ns = next_ns = clock_now_ns();
	for (sent = 0; !stopped && (!options->count || sent < options->count); sent++) {
		struct packet packet = { .sequence = sent,
					 .flow = sent % options->flows,
					 .flow_sequence = sent / options->flows };

		memcpy(data, &packet, sizeof(packet));
		if (clock_now_ns() + options->early_us * 1000ull < next_ns)
			sleep_until(next_ns);
		if (!send_one(fds[packet.flow], data, options->size))
			failed++;
		next_ns += period_ns;
		if (clock_now_ns() > next_ns + MAX_LATE * period_ns)
			next_ns = clock_now_ns();
	}
	printf("{\"sent\": %llu, \"failed\": %llu, \"seconds\": %.6f}\n", (unsigned long long)sent,
	       (unsigned long long)failed, (clock_now_ns() - began_ns) / 1e9);
	free(fds);
	free(data);
}

static int receiving_socket(const struct options *options)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(options->port) };
	int size = 64 << 20, fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		err(1, "bind");
	return fd;
}

static bool mark_seen(struct reception *reception, uint32_t sequence)
{
	uint8_t bit = 1 << (sequence % 8), *byte = &reception->seen[sequence / 8];
	bool was_seen = *byte & bit;

	*byte |= bit;
	return was_seen;
}

static void count_packet(struct reception *reception, const struct packet *packet)
{
	uint32_t *next = &reception->next_of_flow[packet->flow];
	uint64_t time_ns = clock_now_ns();

	if (reception->last_ns && time_ns - reception->last_ns > reception->longest_silence_ns)
		reception->longest_silence_ns = time_ns - reception->last_ns;
	reception->last_ns = time_ns;
	if (mark_seen(reception, packet->sequence)) {
		reception->duplicates++;
		return;
	}
	reception->received++;
	if (packet->flow_sequence < *next)
		reception->reordered++;
	else
		*next = packet->flow_sequence + 1;
	if (packet->sequence >= reception->highest)
		reception->highest = packet->sequence + 1;
}

/* Returns false if nothing is there. */
static bool receive_one(struct reception *reception, int fd)
{
	uint8_t data[65536];
	struct packet packet;
	ssize_t size = recv(fd, data, sizeof(data), MSG_DONTWAIT);

	if (size < 0)
		return false;
	memcpy(&packet, data, sizeof(packet));
	if ((size_t)size < sizeof(packet) || packet.sequence >= MAX_SEQUENCE ||
	    packet.flow >= MAX_FLOWS)
		reception->foreign++;
	else
		count_packet(reception, &packet);
	return true;
}

/* Runs of numbers that never came, below the highest that did. */
static void find_gaps(struct reception *reception)
{
	uint32_t sequence, run = 0;

	for (sequence = 0; sequence < reception->highest; sequence++) {
		if (!(reception->seen[sequence / 8] & 1 << (sequence % 8))) {
			run++;
			continue;
		}
		if (run && reception->gap_count < MAX_GAPS)
			reception->gaps[reception->gap_count++] =
				(struct gap){ sequence - run, run };
		run = 0;
	}
}

static void print_reception(struct reception *reception)
{
	unsigned int i;

	find_gaps(reception);
	printf("{\"received\": %llu, \"highest\": %u, \"duplicates\": %llu, \"reordered\": %llu, "
	       "\"foreign\": %llu, \"longest_silence_ms\": %.1f, \"gaps\": [",
	       (unsigned long long)reception->received, reception->highest,
	       (unsigned long long)reception->duplicates, (unsigned long long)reception->reordered,
	       (unsigned long long)reception->foreign, reception->longest_silence_ns / 1e6);
	for (i = 0; i < reception->gap_count; i++)
		printf("%s[%u, %u]", i ? ", " : "", reception->gaps[i].from,
		       reception->gaps[i].lost);
	printf("]}\n");
}

static void receive_packets(const struct options *options)
{
	struct reception reception = { .seen = calloc(1, MAX_SEQUENCE / 8),
				       .next_of_flow = calloc(MAX_FLOWS, sizeof(uint32_t)) };
	struct pollfd poller = { .fd = receiving_socket(options), .events = POLLIN };

	fprintf(stderr, "ready\n");
	while (!options->count || reception.received < options->count) {
		int ready = poll(&poller, 1, DRAIN_MS);

		if (ready > 0) {
			while (receive_one(&reception, poller.fd))
				;
			if (options->every_ms)
				sleep_until(clock_now_ns() + options->every_ms * 1000000ull);
		} else if (ready == 0 && stopped)
			break;
	}
	print_reception(&reception);
	free(reception.seen);
	free(reception.next_of_flow);
}

static const struct option long_options[] = {
	{ "to", required_argument, NULL, 'a' },	       { "port", required_argument, NULL, 'p' },
	{ "rate", required_argument, NULL, 'r' },      { "count", required_argument, NULL, 'c' },
	{ "size", required_argument, NULL, 's' },      { "flows", required_argument, NULL, 'f' },
	{ "from-port", required_argument, NULL, 'o' }, { "priority", required_argument, NULL, 'q' },
	{ "cpu", required_argument, NULL, 'u' },       { "every", required_argument, NULL, 'e' },
	{ "early", required_argument, NULL, 'y' },     { NULL, 0, NULL, 0 },
};

static void usage(void)
{
	fprintf(stderr, "usage: udpseq send --to ADDRESS [--port P] [--rate PACKETS/S] [--count N] "
			"[--size BYTES]\n"
			"                   [--flows N] [--from-port P] [--priority N] [--cpu N]\n"
			"                   [--early US]\n"
			"       udpseq recv [--port P] [--count N] [--cpu N] [--every MS]\n");
	exit(2);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (letter) {
		case 'a': resolve(options, optarg); break;
		case 'p': options->port = strtoul(optarg, NULL, 0); break;
		case 'r': options->rate = strtoul(optarg, NULL, 0); break;
		case 'c': options->count = strtoull(optarg, NULL, 0); break;
		case 's': options->size = strtoul(optarg, NULL, 0); break;
		case 'f': options->flows = strtoul(optarg, NULL, 0); break;
		case 'o': options->source_port = strtoul(optarg, NULL, 0); break;
		case 'q': options->priority = strtoul(optarg, NULL, 0); break;
		case 'u': options->cpu = atoi(optarg); break;
		case 'e': options->every_ms = strtoul(optarg, NULL, 0); break;
		case 'y': options->early_us = strtoul(optarg, NULL, 0); break;
		default: usage();
		}
	}
	if (!options->rate || !options->flows || options->flows > MAX_FLOWS ||
	    options->size < sizeof(struct packet))
		usage();
	set_port(&options->address, options->port);
}

static void prepare(const struct options *options)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct rlimit files = { .rlim_cur = MAX_FLOWS + 64, .rlim_max = MAX_FLOWS + 64 };
	cpu_set_t cpus;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	setrlimit(RLIMIT_NOFILE, &files);
	prctl(PR_SET_TIMERSLACK, 1);
	if (options->cpu < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(options->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

int main(int argc, char **argv)
{
	struct options options = {
		.rate = 10000, .size = 64, .flows = 1, .source_port = 20000, .port = 9000, .cpu = -1
	};

	if (argc < 2)
		usage();
	parse_options(&options, argc - 1, argv + 1);
	prepare(&options);
	if (!strcmp(argv[1], "send") && options.address_size)
		send_packets(&options);
	else if (!strcmp(argv[1], "recv"))
		receive_packets(&options);
	else
		usage();
	return 0;
}
