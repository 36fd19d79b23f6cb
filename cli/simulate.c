/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of simulated packets: of flows that are made up or of a capture, over a bond. */
#include "cli/verb_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/base/captured.h"
#include "cli/base/foretell.h"
#include "common/mode.h"
#include "options/values.h"
#include "rules/buckets.h"

/* What becomes of packets, and of those of a slave that fails. */

/* With weights that the user gives, a slave that takes the place of another has its weight. */
static void simulate_weigh(const struct simulate *simulate, unsigned int failed,
			   struct simulate_failure *failure)
{
	memcpy(failure->member_weight, simulate->member_weight, sizeof(failure->member_weight));
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		failure->weight[slot] = 0;
		if (!slots_have(failure->mask, slot))
			continue;
		failure->weight[slot] = slots_have(simulate->mask, slot) ? simulate->weight[slot]
									 : simulate->weight[failed];
		failure->member_weight[slot] = failure->weight[slot];
	}
}

static void simulate_fail(struct simulate *simulate, unsigned int failed)
{
	struct simulate_failure *failure = &simulate->failure[failed];

	if (simulate->is_weighed)
		simulate_weigh(simulate, failed, failure);
	failure->table = simulate->settled;
	buckets_assign(failure->table.bucket, failure->table.home, failure->member_weight,
		       failure->weight);
}

void simulate_share_out(struct simulate *simulate)
{
	if (simulate->is_weighed) {
		buckets_assign(simulate->table.bucket, simulate->table.home,
			       simulate->member_weight, simulate->weight);
		simulate->settled = simulate->table;
	}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (simulate->failure[slot].mask)
			simulate_fail(simulate, slot);
}

static void simulate_add(struct simulate_sum *sum, const struct simulate_sum *what)
{
	sum->flows += what->flows;
	sum->packets += what->packets;
	sum->bytes += what->bytes;
}

static void simulate_count_failure(struct simulate *simulate, unsigned int failed,
				   unsigned int before, uint64_t hash,
				   const struct simulate_sum *what)
{
	struct simulate_failure *failure = &simulate->failure[failed];
	unsigned int at_once = flow_slot(simulate->table.bucket, hash, failure->at_once);
	unsigned int settled = flow_slot(failure->table.bucket, hash, failure->mask);

	simulate_add(&failure->gets[settled], what);
	if (settled != before)
		simulate_add(&failure->moved, what);
	if (settled != before && at_once != settled)
		simulate_add(&failure->moved_again, what);
}

/* bytes in packets that all have this hash; new_flow: they are the first of their flow. */
static void simulate_count(struct simulate *simulate, uint64_t hash, uint64_t packets,
			   uint64_t bytes, bool new_flow)
{
	const struct simulate_sum what = { new_flow, packets, bytes };
	unsigned int slot = flow_slot(simulate->table.bucket, hash, simulate->mask);

	simulate_add(&simulate->sum[slot], &what);
	simulate_add(&simulate->total, &what);
	for (unsigned int failed = 0; failed < XBOND_MAX_SLAVES; failed++)
		if (simulate->failure[failed].mask)
			simulate_count_failure(simulate, failed, slot, hash, &what);
}

/* Where the packets come from: flows that are made up, always the same, or a capture. */

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

/* Why no hash decides about it; SIMULATE_OTHERS: one does. */
static enum simulate_other simulate_other_of(const struct simulate *simulate,
					     const struct captured *captured, uint64_t *ret_hash)
{
	enum flow_balance balance =
		simulate->is_tlb ? flow_packet_balance(captured) : FLOW_BALANCED;

	if (captured_is_received(captured, simulate->bond ? simulate->mac : NULL))
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

/* Reads a bond from its pinned maps. Without bondd, the programs' own rules count. */

static void simulate_take_failure(struct simulate_failure *failure, const struct pins *pins,
				  unsigned int failed)
{
	struct aftermath after = aftermath_of(pins, failed);

	failure->at_once = values_undrained(pins, after.at_once);
	failure->mask = values_undrained(pins, after.settled | after.unsure);
	failure->unsure = failure->mask & after.unsure;
	weights_of(pins, failure->mask, failure->member_weight, failure->weight);
}

static void simulate_take_rule_of(struct simulate *simulate, const struct pins *pins)
{
	simulate->rule = foretell_rule(pins);
	memcpy(simulate->mac, pins->bond->mac, sizeof(simulate->mac));
	simulate->is_tlb = mode_has(pins->bond->mode, MODE_OWN_MACS);
}

static void simulate_take_slaves(struct simulate *simulate, const struct pins *pins)
{
	foretell_settle(pins, simulate->settled.bucket, simulate->settled.home);
	foretell_owners(pins, simulate->table.bucket);
	memcpy(simulate->table.home, simulate->settled.home, XBOND_BUCKETS);
	weights_of(pins, simulate->mask, simulate->member_weight, simulate->weight);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		memcpy(simulate->name[slot], pins->slaves[slot].name, XBOND_NAME_SIZE);
		if (slots_have(simulate->mask, slot))
			simulate_take_failure(&simulate->failure[slot], pins, slot);
	}
}

static int simulate_take_pins(struct simulate *simulate, const struct pins *pins, struct err *err)
{
	if (pins->table->selection != XBOND_SELECT_HASH)
		return err_set(err, EINVAL,
			       "%s is in mode %s, where no hash chooses; simulate without it: "
			       "'bondctl simulate --slaves N'",
			       simulate->bond, mode_name(pins->bond->mode));
	simulate->mask = foretell_live(pins);
	if (!simulate->mask)
		return err_set(err, ENOLINK, "no slave of %s may transmit now", simulate->bond);
	simulate_take_rule_of(simulate, pins);
	simulate_take_slaves(simulate, pins);
	return 0;
}

int simulate_take_bond(struct simulate *simulate, const char *bpf_dir, struct err *err)
{
	struct pins pins;
	int r = pins_open(&pins, bpf_dir, simulate->bond, err);

	if (r)
		return r;
	r = simulate_take_pins(simulate, &pins, err);
	pins_close(&pins);
	return r;
}
