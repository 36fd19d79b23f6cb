/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that others have captured: their headers as the programs see them, the flow that each
 * belongs to, a table of flows, and the packets of a file.
 */
#include "cli/base/captured.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bpf/flow.h"
#include "bpf/flow_words.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "view/view_field.h"

/* The headers of a packet. */

#define MACS (2 * ETH_ALEN)

/* The headers of LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2, big-endian. */
struct cooked {
	uint16_t packet_type, hardware, address_length;
	uint8_t address[8];
	uint16_t protocol;
};
_Static_assert(sizeof(struct cooked) == 16, "LINKTYPE_LINUX_SLL");

struct cooked2 {
	uint16_t protocol, reserved;
	uint32_t ifindex;
	uint16_t hardware;
	uint8_t packet_type, address_length, address[8];
};
_Static_assert(sizeof(struct cooked2) == 20, "LINKTYPE_LINUX_SLL2");

static uint16_t captured_type_at(const struct captured *captured, uint32_t offset)
{
	return (uint16_t)(captured->head[offset] << 8 | captured->head[offset + 1]);
}

/* Moves a tag of the head beside the packet, as the kernel does before its TC hooks. */
static void captured_untag(struct captured *captured)
{
	uint16_t type = captured_type_at(captured, MACS);

	if (captured->vlan_tci >= 0 || captured->size < MACS + CAPTURED_TAG + 2 ||
	    (type != ETH_P_8021Q && type != ETH_P_8021AD))
		return;
	captured->vlan_tci = captured_type_at(captured, MACS + 2);
	captured->size -= CAPTURED_TAG;
	memmove(captured->head + MACS, captured->head + MACS + CAPTURED_TAG, captured->size - MACS);
}

/* What follows the Ethernet header. */
static void captured_put(struct captured *captured, const uint8_t *bytes, uint32_t kept)
{
	uint32_t room = CAPTURED_HEAD - captured->size;

	if (kept > room)
		kept = room;
	memcpy(captured->head + captured->size, bytes, kept);
	captured->size += kept;
}

static bool captured_take_ethernet(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	if (kept < ETH_HLEN)
		return false;
	captured_put(captured, bytes, kept);
	return true;
}

static void captured_put_header(struct captured *captured, const uint8_t *source,
				const void *protocol)
{
	memcpy(captured->head + ETH_ALEN, source, ETH_ALEN);
	memcpy(captured->head + MACS, protocol, 2);
	captured->size = ETH_HLEN;
	captured->no_dest = true;
}

/* A packet type below 0x600 stands for frames without one, whose length field is not captured. */
static bool captured_take_cooked(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	struct cooked header;

	if (kept < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (ntohs(header.hardware) != ARPHRD_ETHER || ntohs(header.address_length) != ETH_ALEN ||
	    ntohs(header.protocol) < ETH_P_802_3_MIN)
		return false;
	captured->received = ntohs(header.packet_type) != PACKET_OUTGOING;
	captured_put_header(captured, header.address, &header.protocol);
	captured_put(captured, bytes + sizeof(header), kept - (uint32_t)sizeof(header));
	return true;
}

static bool captured_take_cooked2(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	struct cooked2 header;

	if (kept < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (ntohs(header.hardware) != ARPHRD_ETHER || header.address_length != ETH_ALEN ||
	    ntohs(header.protocol) < ETH_P_802_3_MIN)
		return false;
	captured->received = header.packet_type != PACKET_OUTGOING;
	captured_put_header(captured, header.address, &header.protocol);
	captured_put(captured, bytes + sizeof(header), kept - (uint32_t)sizeof(header));
	return true;
}

bool captured_take(enum captured_link link, const uint8_t *bytes, uint32_t kept, uint32_t length,
		   int32_t vlan_tci, struct captured *ret_captured)
{
	struct captured *captured = ret_captured;
	uint32_t header = ETH_HLEN;
	bool taken = false;

	captured->size = 0;
	captured->cut = kept < length;
	captured->no_dest = captured->received = false;
	captured->vlan_tci = vlan_tci;
	memset(captured->head, 0, ETH_HLEN);
	switch (link) {
	case CAPTURED_ETHERNET: taken = captured_take_ethernet(bytes, kept, captured); break;
	case CAPTURED_COOKED:
		taken = captured_take_cooked(bytes, kept, captured);
		header = sizeof(struct cooked);
		break;
	case CAPTURED_COOKED2:
		taken = captured_take_cooked2(bytes, kept, captured);
		header = sizeof(struct cooked2);
		break;
	}
	if (length < header)
		length = header;
	captured->length = length - header + ETH_HLEN + (vlan_tci >= 0 ? CAPTURED_TAG : 0);
	if (taken)
		captured_untag(captured);
	return taken;
}

/* A bond sends nothing to its own address. */
bool captured_is_received(const struct captured *captured, const uint8_t *mac)
{
	return captured->received ||
	       (mac && !captured->no_dest && !memcmp(captured->head, mac, ETH_ALEN));
}

/* The flow of a packet. */

static void tuple_take_ports(const struct packet *packet, uint32_t payload, struct tuple *tuple)
{
	const uint8_t *ports = (const uint8_t *)packet->data + (payload & FLOW_AT_OFFSET);

	if (!payload || payload & FLOW_AT_SHORT)
		return;
	tuple->proto = FLOW_PAYLOAD_PROTOCOL(payload);
	if (!flow_has_ports(tuple->proto) || ports + 4 > (const uint8_t *)packet->end)
		return;
	tuple->has_ports = 1;
	tuple->sport = (uint16_t)(ports[0] << 8 | ports[1]);
	tuple->dport = (uint16_t)(ports[2] << 8 | ports[3]);
}

/* The header of an IP packet, as far as flows are told apart by it. */
struct tuple_ip {
	uint8_t version;
	uint32_t size, proto_at, src_at, address_size; /* dst follows src */
	uint32_t payload;			       /* what flow_payload() is told */
};

static const struct tuple_ip tuple_ip4 = { 4, 20, 9, 12, 4, FLOW_AT_IP4 };
static const struct tuple_ip tuple_ip6 = { 6, 40, 6, 8, 16, FLOW_AT_IP6 };

static void tuple_take_ip(const struct packet *packet, uint32_t offset, const struct tuple_ip *kind,
			  struct tuple *tuple)
{
	const uint8_t *ip = (const uint8_t *)packet->data + offset;

	if (ip + kind->size > (const uint8_t *)packet->end)
		return;
	tuple->ip = kind->version;
	tuple->proto = ip[kind->proto_at];
	memcpy(tuple->src, ip + kind->src_at, kind->address_size);
	memcpy(tuple->dst, ip + kind->src_at + kind->address_size, kind->address_size);
	tuple_take_ports(packet, flow_payload(packet, kind->payload | offset), tuple);
}

void tuple_of(const struct captured *captured, struct tuple *ret_tuple)
{
	struct packet packet = { .data = (void *)captured->head,
				 .end = (void *)(captured->head + captured->size),
				 .vlan_tci = captured->vlan_tci };
	const struct ethhdr *eth = packet.data;
	__u32 offset = sizeof(*eth);
	__be16 type = eth->h_proto;
	__u16 vlan;

	memset(ret_tuple, 0, sizeof(*ret_tuple));
	flow_untag(&packet, &offset, &type, &vlan);
	ret_tuple->vlan = vlan;
	ret_tuple->type = ntohs(type);
	if (ret_tuple->type == ETH_P_IP)
		tuple_take_ip(&packet, offset, &tuple_ip4, ret_tuple);
	else if (ret_tuple->type == ETH_P_IPV6)
		tuple_take_ip(&packet, offset, &tuple_ip6, ret_tuple);
	if (ret_tuple->ip)
		return;
	memcpy(ret_tuple->src, eth->h_source, ETH_ALEN);
	memcpy(ret_tuple->dst, eth->h_dest, ETH_ALEN);
}

static const char *tuple_address(const struct tuple *tuple, const uint8_t *address,
				 char text[INET6_ADDRSTRLEN])
{
	if (!tuple->ip)
		return mac_format(address, text);
	return inet_ntop(tuple->ip == 4 ? AF_INET : AF_INET6, address, text, INET6_ADDRSTRLEN);
}

/* For IP its protocol, else the packet type. */
static const char *tuple_proto(const struct tuple *tuple, char text[16])
{
	static const struct {
		uint8_t proto;
		const char *name;
	} names[] = {
		{ IPPROTO_TCP, "tcp" },	     { IPPROTO_UDP, "udp" },   { IPPROTO_ICMP, "icmp" },
		{ IPPROTO_ICMPV6, "icmp6" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_GRE, "gre" },
		{ IPPROTO_ESP, "esp" },	     { IPPROTO_IGMP, "igmp" },
	};

	if (!tuple->ip && tuple->type == ETH_P_ARP)
		return "arp";
	if (!tuple->ip && tuple->type == ETH_P_SLOW)
		return "slow";
	for (size_t i = 0; tuple->ip && i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].proto == tuple->proto)
			return names[i].name;
	snprintf(text, 16, tuple->ip ? "proto %u" : "type 0x%04x",
		 tuple->ip ? tuple->proto : tuple->type);
	return text;
}

const char *tuple_format(const struct tuple *tuple, char ret_text[TUPLE_TEXT])
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], sport[8] = "", dport[8] = "";
	char proto[16], vlan[16] = "";

	if (tuple->has_ports) {
		snprintf(sport, sizeof(sport), ".%u", tuple->sport);
		snprintf(dport, sizeof(dport), ".%u", tuple->dport);
	}
	if (tuple->vlan)
		snprintf(vlan, sizeof(vlan), " vlan %u", tuple->vlan);
	snprintf(ret_text, TUPLE_TEXT, "%s%s > %s%s %s%s", tuple_address(tuple, tuple->src, src),
		 sport, tuple_address(tuple, tuple->dst, dst), dport, tuple_proto(tuple, proto),
		 vlan);
	return ret_text;
}

static json_t *tuple_read_address(const struct view_place *place)
{
	const uint8_t *address = (const uint8_t *)place->at + place->field->offset;
	char text[INET6_ADDRSTRLEN];

	return json_string(tuple_address(place->at, address, text));
}

static json_t *tuple_read_proto(const struct view_place *place)
{
	char text[16];

	return json_string(tuple_proto(place->at, text));
}

static json_t *tuple_read_port(const struct view_place *place)
{
	const struct tuple *tuple = place->at;

	return tuple->has_ports ? view_known(place->field, tuple) : json_null();
}

static const struct view_field tuple_fields[] = {
	{ "src", VIEW_TEXT, "The source of the outermost IP packet, or of the frame.",
	  VIEW_IN(struct tuple, src), .read = tuple_read_address },
	{ "dst", VIEW_TEXT, "The destination.", VIEW_IN(struct tuple, dst),
	  .read = tuple_read_address },
	{ "proto", VIEW_TEXT, "The protocol: a name, or a number as text.",
	  .read = tuple_read_proto },
	{ "sport", VIEW_COUNT, "The source port.", VIEW_IN(struct tuple, sport),
	  .read = tuple_read_port, .null = true, .max = UINT16_MAX },
	{ "dport", VIEW_COUNT, "The destination port.", VIEW_IN(struct tuple, dport),
	  .read = tuple_read_port, .null = true, .max = UINT16_MAX },
	{ "vlan", VIEW_COUNT, "The outermost VLAN.", VIEW_IN(struct tuple, vlan), .null = true,
	  .max = 4095 },
};

const struct view_table tuple_table = VIEW_TABLE("tuple", tuple_fields);

/* The table of flows. */

void flow_counts_init(struct flow_counts *counts, size_t most)
{
	memset(counts, 0, sizeof(*counts));
	for (counts->capacity = 1; counts->capacity < 2 * most;)
		counts->capacity *= 2;
	counts->flows = memory_need(calloc(counts->capacity, sizeof(*counts->flows)));
	/* Whoever sends packets must not know which flows collide. */
	if (getrandom(&counts->seed, sizeof(counts->seed), GRND_NONBLOCK) < 0)
		counts->seed = 1;
}

void flow_counts_done(struct flow_counts *counts)
{
	free(counts->flows);
	counts->flows = NULL;
}

static size_t flow_counts_home(const struct flow_counts *counts, const struct tuple *tuple,
			       uint32_t slot)
{
	uint64_t hash = flow_mix(counts->seed, slot);
	uint32_t words[sizeof(*tuple) / sizeof(uint32_t)];

	memcpy(words, tuple, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = flow_mix(hash, words[i]);
	return flow_finish(hash) >> 32 & (counts->capacity - 1);
}

/* Half of the table stays empty, so the search ends. */
static struct flow_count *flow_counts_find(struct flow_counts *counts, const struct tuple *tuple,
					   uint32_t slot)
{
	size_t at = flow_counts_home(counts, tuple, slot);

	while (counts->flows[at].packets > 0) {
		struct flow_count *flow = &counts->flows[at];

		if (flow->slot == slot && !memcmp(&flow->tuple, tuple, sizeof(*tuple)))
			return flow;
		at = (at + 1) & (counts->capacity - 1);
	}
	return &counts->flows[at];
}

void flow_counts_add(struct flow_counts *counts, const struct tuple *tuple, uint32_t slot,
		     uint32_t length, double weight)
{
	struct flow_count *flow = flow_counts_find(counts, tuple, slot);

	if (!(flow->packets > 0)) {
		if (counts->used >= counts->capacity / 2) {
			counts->unnoted++;
			return;
		}
		counts->used++;
		flow->tuple = *tuple;
		flow->slot = slot;
	}
	flow->packets += weight;
	flow->bytes += weight * length;
	flow->samples++;
}

/* The packets of a file. */

static FILE *pcap_source_stream(const char *file, struct err *err)
{
	FILE *stream = NULL;

	if (strcmp(file, "-"))
		stream = fopen(file, "rb");
	else if (isatty(STDIN_FILENO))
		err_set(err, EINVAL,
			"standard input is a terminal, not a capture: give a file or a pipe");
	else
		stream = stdin;
	if (!stream && strcmp(file, "-"))
		err_set(err, errno, "cannot read '%s': %m", file);
	return stream;
}

static int pcap_source_set_link(struct pcap_source *source, struct err *err)
{
	int link = pcap_datalink(source->pcap);
	const char *name = pcap_datalink_val_to_name(link);

	switch (link) {
	case DLT_EN10MB: source->link = CAPTURED_ETHERNET; return 0;
	case DLT_LINUX_SLL: source->link = CAPTURED_COOKED; return 0;
	case DLT_LINUX_SLL2: source->link = CAPTURED_COOKED2; return 0;
	default: break;
	}
	return err_set(err, EINVAL,
		       "'%s' is a capture of link type %s (%d), not of an Ethernet device; capture "
		       "on the bond, for example with 'tcpdump -i BOND -Q out -w FILE'",
		       source->file, name ? name : "unknown", link);
}

int pcap_source_open(struct pcap_source *source, const char *file, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	FILE *stream = pcap_source_stream(file, err);
	int r;

	*source = (struct pcap_source){ .file = file };
	if (!stream)
		return -EINVAL;
	source->pcap =
		pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!source->pcap) {
		if (stream != stdin)
			fclose(stream);
		return err_set(err, EBADMSG, "'%s' is not a capture that can be read: %s", file,
			       text);
	}
	r = pcap_source_set_link(source, err);
	if (r)
		pcap_source_close(source);
	return r;
}

void pcap_source_close(struct pcap_source *source)
{
	pcap_close(source->pcap);
}

int pcap_source_next(struct pcap_source *source, struct captured *ret_captured,
		     bool *ret_understood, struct timespec *ret_time, struct err *err)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int r = pcap_next_ex(source->pcap, &header, &bytes);

	if (r == PCAP_ERROR_BREAK)
		return 0;
	if (r != 1)
		return err_set(err, EBADMSG, "'%s' is damaged: %s", source->file,
			       pcap_geterr(source->pcap));
	*ret_time = (struct timespec){ header->ts.tv_sec, header->ts.tv_usec };
	*ret_understood =
		captured_take(source->link, bytes, header->caplen, header->len, -1, ret_captured);
	return 1;
}
