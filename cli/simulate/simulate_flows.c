/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the packets come from: flows that are made up, always the same, or a capture. */
#include <arpa/inet.h>
#include <string.h>

#include "cli/base/captured.h"
#include "cli/base/flow_packet.h"
#include "cli/simulate/simulate.h"

#define SERVERS 50
#define CLIENTS 4000
#define FIRST_CLIENT_PORT 32768
#define CLIENT_PORTS 28232
#define MOST_FLOWS (1 << 18) /* that are told from each other in a capture */

/* xorshift64*: the same everywhere. */
static uint32_t simulate_chance(uint64_t *state, uint32_t below)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

static void simulate_make_addresses(struct flow_packet *flow, uint32_t server, uint32_t client)
{
	uint32_t number = htonl(client);

	flow->dmac[0] = 0x02;
	memcpy(flow->dmac + 2, &number, sizeof(number));
	if (flow->ip6) {
		memcpy(flow->src, "\xfd", 1);
		memcpy(flow->dst, "\xfd\x01", 2);
	}
	number = htonl((flow->ip6 ? 0 : 0xc0a80001) + server);
	memcpy(flow->src + (flow->ip6 ? 12 : 0), &number, sizeof(number));
	number = htonl((flow->ip6 ? 0 : 0x0a000001) + client);
	memcpy(flow->dst + (flow->ip6 ? 12 : 0), &number, sizeof(number));
}

/* From servers of this host to clients of one network; every fourth flow by IPv6. */
static struct flow_packet simulate_make_flow(const struct simulate *simulate, uint64_t *state)
{
	static const uint16_t services[] = { 80, 443, 443, 443, 22, 5432, 8080, 3306 };
	struct flow_packet flow = { .proto = IPPROTO_TCP,
				    .ip6 = simulate_chance(state, 4) == 0,
				    .sport = services[simulate_chance(state, 8)] };
	uint32_t server = simulate_chance(state, SERVERS), client = simulate_chance(state, CLIENTS);

	flow.dport = (uint16_t)(FIRST_CLIENT_PORT + simulate_chance(state, CLIENT_PORTS));
	if (flow.ip6)
		flow.label = simulate_chance(state, 1 << 20);
	memcpy(flow.smac, simulate->mac, sizeof(flow.smac));
	simulate_make_addresses(&flow, server, client);
	return flow;
}

/* Of 100 flows 90 are short, 9 ten times as long, and one a hundred times. */
void simulate_generate(struct simulate *simulate)
{
	uint64_t state = 20250;

	for (uint64_t i = 0; i < simulate->flows; i++) {
		struct flow_packet flow = simulate_make_flow(simulate, &state);
		uint32_t kind = simulate_chance(&state, 100);
		uint64_t packets = kind < 90 ? 10 : kind < 99 ? 100 : 1000;
		uint64_t size = kind < 90 ? 200 : 1400;

		simulate_count(simulate, flow_packet_hash(&flow, &simulate->rule), packets,
			       packets * size, true);
	}
}

/* Is it the first of its flow? */
static bool simulate_is_new(struct simulate *simulate, struct flow_counts *flows,
			    const struct captured *captured)
{
	size_t before = flows->used;
	struct tuple tuple;

	tuple_of(captured, &tuple);
	flow_counts_add(flows, &tuple, 0, captured->length, 1);
	simulate->flows_lack = flows->unnoted;
	return flows->used > before;
}

/* A bond sends nothing to its own address. */
static bool simulate_is_received(const struct simulate *simulate, const struct captured *captured)
{
	return captured->received || (simulate->bond && !captured->no_dest &&
				      !memcmp(captured->head, simulate->mac, XBOND_MAC_SIZE));
}

/* Why no hash decides about it; SIMULATE_OTHERS: one does. */
static enum simulate_other simulate_other_of(const struct simulate *simulate,
					     const struct captured *captured, uint64_t *ret_hash)
{
	enum flow_balance balance =
		simulate->is_tlb ? flow_packet_balance(captured) : FLOW_BALANCED;

	if (simulate_is_received(simulate, captured))
		return SIMULATE_RECEIVED;
	if (balance != FLOW_BALANCED)
		return balance == FLOW_CUT ? SIMULATE_CUT : SIMULATE_ACTIVE;
	if (simulate->is_tlb && captured->no_dest) /* is it for one host, or for many? */
		return SIMULATE_NO_DEST;
	if (!flow_packet_hash_captured(captured, &simulate->rule, ret_hash))
		return captured->no_dest ? SIMULATE_NO_DEST : SIMULATE_CUT;
	return SIMULATE_OTHERS;
}

static void simulate_take(struct simulate *simulate, struct flow_counts *flows,
			  const struct captured *captured, bool understood)
{
	enum simulate_other other = SIMULATE_NO_ETHERNET;
	uint64_t hash;

	if (understood)
		other = simulate_other_of(simulate, captured, &hash);
	if (other != SIMULATE_OTHERS)
		simulate->other[other]++;
	else
		simulate_count(simulate, hash, 1, captured->length,
			       simulate_is_new(simulate, flows, captured));
}

int simulate_read(struct simulate *simulate, struct err *err)
{
	struct flow_counts flows;
	struct pcap_source source;
	struct captured captured;
	struct timespec time;
	bool understood;
	int r = pcap_source_open(&source, simulate->file, err);

	if (r)
		return r;
	flow_counts_init(&flows, MOST_FLOWS);
	while ((r = pcap_source_next(&source, &captured, &understood, &time, err)) > 0)
		simulate_take(simulate, &flows, &captured, understood);
	flow_counts_done(&flows);
	pcap_source_close(&source);
	return r;
}
