/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a packet to its hash, and from a hash to a slot, as the programs do it. */
#include "cli/base/foretell.h"

#include <arpa/inet.h>
#include <string.h>

#include "bpf/flow.h"
#include "bpf/flow_words.h"
#include "bpf/neighbour.h"
#include "bpf/slots.h"

/* From a packet to its hash. */

#define ROOM 128

static uint8_t *flow_packet_put(uint8_t *at, const void *data, size_t size)
{
	memcpy(at, data, size);
	return at + size;
}

static uint8_t *flow_packet_put16(uint8_t *at, uint16_t number)
{
	number = htons(number);
	return flow_packet_put(at, &number, sizeof(number));
}

static uint8_t *flow_packet_put_ether(uint8_t *at, const struct flow_packet *flow)
{
	at = flow_packet_put(at, flow->dmac, sizeof(flow->dmac));
	at = flow_packet_put(at, flow->smac, sizeof(flow->smac));
	if (flow->vlan) {
		at = flow_packet_put16(at, ETH_P_8021Q);
		at = flow_packet_put16(at, flow->vlan);
	}
	return flow_packet_put16(at, flow->ip6 ? ETH_P_IPV6 : ETH_P_IP);
}

static uint8_t *flow_packet_put_ip(uint8_t *at, const struct flow_packet *flow)
{
	struct iphdr ip4 = { .version = 4, .ihl = 5, .protocol = flow->proto };
	struct ipv6hdr ip6 = { .nexthdr = flow->proto ? flow->proto : IPPROTO_NONE };
	__be32 first = htonl(6u << 28 | flow->label);

	if (!flow->ip6) {
		memcpy(&ip4.saddr, flow->src, sizeof(ip4.saddr));
		memcpy(&ip4.daddr, flow->dst, sizeof(ip4.daddr));
		return flow_packet_put(at, &ip4, sizeof(ip4));
	}
	memcpy(&ip6, &first, sizeof(first));
	memcpy(&ip6.saddr, flow->src, sizeof(ip6.saddr));
	memcpy(&ip6.daddr, flow->dst, sizeof(ip6.daddr));
	return flow_packet_put(at, &ip6, sizeof(ip6));
}

static __u64 flow_packet_untagged_of(void *context)
{
	return flow_untagged(context);
}

static uint32_t flow_packet_payload_of(void *context, uint32_t at)
{
	return flow_payload(context, at);
}

static uint32_t flow_packet_inner_of(void *context, uint32_t payload)
{
	return flow_encap_inner(context, payload);
}

/* Returns FLOW_SHORT if headers that count lie beyond the end. */
static int flow_packet_hash_of(struct packet *packet, const struct flow_rule *rule,
			       uint64_t *ret_hash)
{
	const struct flow_hook hook = { .context = packet,
					.untagged_of = flow_packet_untagged_of,
					.payload_of = flow_packet_payload_of,
					.inner_of = flow_packet_inner_of };
	__u64 found;
	int cut = flow_hash(packet, rule, &hook, &found);

	*ret_hash = found;
	return cut;
}

static void flow_packet_put_all(uint8_t *bytes, const struct flow_packet *flow)
{
	uint8_t *at = flow_packet_put_ip(flow_packet_put_ether(bytes, flow), flow);

	flow_packet_put16(flow_packet_put16(at, flow->sport), flow->dport);
}

void flow_packet_make(const struct flow_packet *flow, struct captured *ret_captured)
{
	memset(ret_captured, 0, sizeof(*ret_captured));
	flow_packet_put_all(ret_captured->head, flow);
	ret_captured->size = ret_captured->length = ROOM;
	ret_captured->vlan_tci = -1;
}

uint64_t flow_packet_hash(const struct flow_packet *flow, const struct flow_rule *rule)
{
	uint8_t bytes[ROOM] = { 0 };
	struct packet packet = { .data = bytes, .end = bytes + ROOM, .vlan_tci = -1 };
	uint64_t hash;

	flow_packet_put_all(bytes, flow);
	flow_packet_hash_of(&packet, rule, &hash);
	return hash;
}

bool flow_packet_hash_captured(const struct captured *captured, const struct flow_rule *rule,
			       uint64_t *ret_hash)
{
	struct captured other = *captured;
	struct packet packet = { .data = other.head,
				 .end = other.head + other.size,
				 .vlan_tci = other.vlan_tci };
	uint64_t hash;

	if (flow_packet_hash_of(&packet, rule, ret_hash) && captured->cut)
		return false;
	if (!captured->no_dest)
		return true;
	other.head[ETH_ALEN - 1] ^= 1;
	flow_packet_hash_of(&packet, rule, &hash);
	return hash == *ret_hash;
}

enum flow_balance flow_packet_balance(const struct captured *captured)
{
	uint8_t *head = (uint8_t *)captured->head; /* which is only read */
	const struct packet packet = { .data = head,
				       .end = head + captured->size,
				       .vlan_tci = captured->vlan_tci };
	enum tlb_kind kind;
	__u16 vid;

	kind = tlb_kind_in(&packet, &vid);
	if (kind == TLB_SHORT && captured->cut)
		return FLOW_CUT;
	return kind == TLB_BALANCED ? FLOW_BALANCED : FLOW_ACTIVE;
}

bool flow_packet_is_neighbour_message(const struct captured *captured)
{
	const struct ethhdr *eth = (const void *)captured->head;
	struct neighbour_headers headers;

	if (eth->h_proto == htons(ETH_P_ARP))
		return true;
	if (eth->h_proto != htons(ETH_P_IPV6) || captured->size < sizeof(*eth) + sizeof(headers))
		return false;
	memcpy(&headers, captured->head + sizeof(*eth), sizeof(headers));
	return neighbour_is_message(&headers);
}

bool flow_packet_counts(const struct flow_packet *flow, const struct flow_rule *rule,
			enum flow_field field)
{
	struct flow_packet other = *flow;
	uint8_t last = flow->ip6 ? 15 : 3;

	switch (field) {
	case FLOW_SMAC: other.smac[5] ^= 1; break;
	case FLOW_DMAC: other.dmac[5] ^= 1; break;
	case FLOW_VLAN: other.vlan = other.vlan == 1 ? 2 : 1; break;
	case FLOW_SRC: other.src[last] ^= 1; break;
	case FLOW_DST: other.dst[last] ^= 1; break;
	case FLOW_LABEL: other.label ^= 1; break;
	case FLOW_SPORT: other.sport ^= 1; break;
	case FLOW_DPORT: other.dport ^= 1; break;
	case FLOW_PROTO: /* decides whether there are ports; the number itself is not hashed */
	case FLOW_FIELDS: return false;
	}
	return flow_packet_hash(&other, rule) != flow_packet_hash(flow, rule);
}

/* From a hash to a slot. */

unsigned int flow_slot_usable(const uint8_t bucket[XBOND_BUCKETS], unsigned int slot, uint64_t hash,
			      uint64_t mask)
{
	if (!mask)
		return XBOND_NO_SLOT;
	for (uint32_t turn = 1; !slots_have(mask, slot) && turn <= FLOW_TURNS; turn++) {
		hash = flow_again(hash, turn);
		slot = bucket[FLOW_BUCKET(hash)] % XBOND_MAX_SLAVES;
	}
	return slots_have(mask, slot) ? slot : (unsigned int)__builtin_ctzll(mask);
}

unsigned int flow_slot(const uint8_t bucket[XBOND_BUCKETS], uint64_t hash, uint64_t mask)
{
	return flow_slot_usable(bucket, bucket[FLOW_BUCKET(hash)] % XBOND_MAX_SLAVES, hash, mask);
}
