/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How evenly generated flows fall on slaves: `balance FLOWS WEIGHT...`, one weight for each slave.
 * By the datapath's own hash (bpf/flow.h) and bondd's own bucket table, and, beside it, by the
 * formula of the kernel's bonding driver. Always the same flows. No clock: nothing here is
 * measured. Prints one JSON object; see print_result().
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/flow.h"
#include "cli/base/foretell.h"
#include "rules/buckets.h"

#define SEED 0x1234567
#define OTHER_SEED 0x7654321
#define HOSTS 4000
#define SERVERS 50

struct table {
	uint8_t bucket[XBOND_BUCKETS], home[XBOND_BUCKETS];
};

struct tally {
	unsigned long first[XBOND_MAX_SLAVES]; /* on the first hop */
	/* On the second, of those that took slave 0 on the first. */
	unsigned long second[XBOND_MAX_SLAVES];
	/* When the last slave is lost and when it is back. */
	unsigned long moved_away, moved_back;
};

static uint64_t state = 20250;

/* xorshift64*: the same everywhere. */
static uint32_t chance(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

/* Clients of one network, some servers, the ports that Linux gives clients. */
static struct flow_packet next_flow(void)
{
	static const uint16_t services[] = { 80, 443, 443, 443, 22, 5432, 8080, 3306 };
	struct flow_packet flow = { .proto = IPPROTO_TCP,
				    .sport = (uint16_t)(32768 + chance(28232)),
				    .dport = services[chance(8)] };
	uint32_t src = htonl(0x0a000001 + chance(HOSTS)), dst = htonl(0xc0a80001 + chance(SERVERS));

	memcpy(flow.src, &src, sizeof(src));
	memcpy(flow.dst, &dst, sizeof(dst));
	return flow;
}

static unsigned int ours(const struct table *table, const struct flow_packet *flow, uint32_t seed)
{
	struct flow_rule rule = { .policy = XBOND_POLICY_LAYER34, .seed = seed };

	return table->bucket[FLOW_BUCKET(flow_packet_hash(flow, &rule))];
}

/* bond_xmit_hash() and bond_ip_hash() of drivers/net/bonding/bond_main.c, layer3+4. */
static unsigned int kernels(const struct flow_packet *flow, unsigned int slaves)
{
	uint32_t src, dst, hash = (uint32_t)htons(flow->sport) | (uint32_t)htons(flow->dport) << 16;

	memcpy(&src, flow->src, sizeof(src));
	memcpy(&dst, flow->dst, sizeof(dst));
	hash ^= src ^ dst;
	hash ^= hash >> 16;
	hash ^= hash >> 8;
	return (hash >> 1) % slaves;
}

static void count_one(struct tally *tally, unsigned int first, unsigned int second,
		      unsigned int without, unsigned int again)
{
	tally->first[first]++;
	if (first == 0)
		tally->second[second]++;
	tally->moved_away += first != without;
	tally->moved_back += without != again;
}

static void count(unsigned long flows, unsigned int slaves, const uint32_t weight[XBOND_MAX_SLAVES],
		  struct tally *own, struct tally *kernel)
{
	struct table whole, reduced, again;
	uint32_t usable[XBOND_MAX_SLAVES];

	memcpy(usable, weight, sizeof(usable));
	usable[slaves - 1] = 0;
	memset(&whole, XBOND_NO_SLOT, sizeof(whole));
	buckets_assign(whole.bucket, whole.home, weight, weight);
	reduced = whole;
	buckets_assign(reduced.bucket, reduced.home, weight, usable);
	again = reduced;
	buckets_assign(again.bucket, again.home, weight, weight);
	for (unsigned long i = 0; i < flows; i++) {
		struct flow_packet flow = next_flow();
		unsigned int theirs = kernels(&flow, slaves);

		count_one(own, ours(&whole, &flow, SEED), ours(&whole, &flow, OTHER_SEED),
			  ours(&reduced, &flow, SEED), ours(&again, &flow, SEED));
		count_one(kernel, theirs, theirs, kernels(&flow, slaves - 1), theirs);
	}
}

static void print_list(const char *name, const unsigned long *list, unsigned int count)
{
	printf("\"%s\": [", name);
	for (unsigned int i = 0; i < count; i++)
		printf("%s%lu", i ? ", " : "", list[i]);
	printf("], ");
}

static void print_tally(const char *name, const struct tally *tally, unsigned int slaves,
			const char *end)
{
	printf("\"%s\": {", name);
	print_list("first", tally->first, slaves);
	print_list("second", tally->second, slaves);
	printf("\"moved_away\": %lu, \"moved_back\": %lu}%s", tally->moved_away, tally->moved_back,
	       end);
}

int main(int argc, char **argv)
{
	struct tally own = { 0 }, kernel = { 0 };
	uint32_t weight[XBOND_MAX_SLAVES] = { 0 };
	unsigned int slaves = argc > 2 ? (unsigned int)argc - 2 : 0;

	if (slaves < 2 || slaves > XBOND_MAX_SLAVES) {
		fprintf(stderr, "usage: balance FLOWS WEIGHT WEIGHT...\n");
		return 2;
	}
	for (unsigned int slot = 0; slot < slaves; slot++)
		weight[slot] = (uint32_t)strtoul(argv[slot + 2], NULL, 10);
	count(strtoul(argv[1], NULL, 10), slaves, weight, &own, &kernel);
	printf("{");
	print_tally("xbond", &own, slaves, ", ");
	print_tally("kernel", &kernel, slaves, "}\n");
	return 0;
}
