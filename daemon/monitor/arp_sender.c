/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/arp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "network/packet.h"

#define MOST_WAITING (2 * XBOND_MAX_SLAVES * XBOND_PROBE_TARGETS)

struct arp_outgoing {
	int ifindex;
	uint8_t size;
	uint8_t frame[ARP_FRAME_SIZE];
};

struct arp_batch {
	struct arp_outgoing *frames;
	size_t count, room;
};

struct arp_sender {
	struct worker worker;
	struct arp_batch added; /* of the main loop */
	struct arp_batch waiting GUARDED_BY(worker_held);
	struct arp_batch sending; /* of the thread */
	int fd;
};

static bool arp_sender_append(struct arp_batch *batch, const struct arp_outgoing *frame)
{
	if (batch->count == MOST_WAITING)
		return false;
	if (batch->count == batch->room) {
		batch->room = 2 * batch->room + 8;
		batch->frames =
			memory_need(reallocarray(batch->frames, batch->room, sizeof(*frame)));
	}
	batch->frames[batch->count++] = *frame;
	return true;
}

NEEDS(worker_held) static bool arp_sender_begin(void *context)
{
	struct arp_sender *sender = context;
	struct arp_batch sent = sender->sending;

	sender->sending = sender->waiting;
	sender->waiting = sent;
	sender->waiting.count = 0;
	return sender->sending.count;
}

static void arp_sender_work(void *context)
{
	struct arp_sender *sender = context;

	for (size_t i = 0; i < sender->sending.count; i++)
		packet_send(sender->fd, sender->sending.frames[i].ifindex,
			    sender->sending.frames[i].frame, sender->sending.frames[i].size);
}

static void arp_sender_end(void *context)
{
	struct arp_sender *sender = context;

	sender->sending.count = 0;
}

static const struct worker_kind arp_sender_kind = {
	.name = "probe",
	.begin = arp_sender_begin,
	.work = arp_sender_work,
	.end = arp_sender_end,
};

static int arp_sender_start(struct arp_sender *sender)
{
	int r;

	sender->fd = packet_open_control(); /* before data, as the kernel's own */
	if (sender->fd < 0)
		return -errno;
	r = worker_start(&sender->worker, &arp_sender_kind, sender);
	if (r)
		close(sender->fd);
	return r;
}

struct arp_sender *arp_sender_new(struct err *err)
{
	struct arp_sender *sender = memory_need(calloc(1, sizeof(*sender)));
	int r = arp_sender_start(sender);

	if (!r)
		return sender;
	free(sender);
	err_set(err, -r, "cannot start the thread that sends probes: %s", strerror(-r));
	return NULL;
}

void arp_sender_free(struct arp_sender *sender)
{
	if (!sender)
		return;
	worker_stop(&sender->worker);
	close(sender->fd);
	free(sender->added.frames);
	free(sender->waiting.frames);
	free(sender->sending.frames);
	free(sender);
}

void arp_sender_add(struct arp_sender *sender, int ifindex, const uint8_t *frame, size_t size)
{
	struct arp_outgoing outgoing = { .ifindex = ifindex, .size = (uint8_t)size };

	memcpy(outgoing.frame, frame, size);
	arp_sender_append(&sender->added, &outgoing);
}

void arp_sender_flush(struct arp_sender *sender)
{
	if (!sender->added.count)
		return;
	worker_lock(&sender->worker);
	for (size_t i = 0; i < sender->added.count; i++)
		if (!arp_sender_append(&sender->waiting, &sender->added.frames[i]))
			break;
	worker_unlock_and_wake(&sender->worker);
	sender->added.count = 0;
}

/* RFC 4861, 4.3. The option is left out if the sender has no address. */
struct solicitation {
	struct ip6_hdr ip;
	struct nd_neighbor_solicit solicit;
	struct nd_opt_hdr option;
	uint8_t mac[XBOND_MAC_SIZE];
} __attribute__((packed));

static const uint8_t no_address[16];

/* Returns how many bytes that takes. */
static size_t arp_frame_begin(const struct arp_probe *probe, const uint8_t *to, uint16_t type,
			      uint8_t *frame)
{
	size_t at = 2 * XBOND_MAC_SIZE;
	uint16_t word;

	memcpy(frame, to, XBOND_MAC_SIZE);
	memcpy(frame + XBOND_MAC_SIZE, probe->mac, XBOND_MAC_SIZE);
	for (unsigned int i = 0; i < probe->tag_count && i < ARP_MAX_TAGS; i++) {
		word = htons(probe->tags[i].protocol);
		memcpy(frame + at, &word, sizeof(word));
		word = htons(probe->tags[i].id);
		memcpy(frame + at + 2, &word, sizeof(word));
		at += 4;
	}
	word = htons(type);
	memcpy(frame + at, &word, sizeof(word));
	return at + sizeof(word);
}

static size_t arp_frame_arp(const struct arp_probe *probe, uint16_t type, uint16_t operation,
			    uint8_t *frame)
{
	static const uint8_t everybody[XBOND_MAC_SIZE] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct ether_arp arp = packet_arp(operation, probe->mac, probe->source, probe->target);
	size_t at = arp_frame_begin(probe, probe->to ? probe->to : everybody, type, frame);

	if (probe->to)
		memcpy(arp.arp_tha, probe->to, XBOND_MAC_SIZE);
	memcpy(frame + at, &arp, sizeof(arp));
	return at + sizeof(arp);
}

size_t arp_frame_request(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE])
{
	return arp_frame_arp(probe, ETHERTYPE_ARP, ARPOP_REQUEST, ret_frame);
}

size_t arp_frame_reply(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE])
{
	return arp_frame_arp(probe, ETHERTYPE_ARP, ARPOP_REPLY, ret_frame);
}

size_t arp_frame_rarp(const uint8_t *mac, const struct arp_tag *tag,
		      uint8_t ret_frame[ARP_FRAME_SIZE])
{
	const struct arp_probe probe = {
		.source = no_address,
		.target = no_address,
		.mac = mac,
		.tags = tag,
		.tag_count = tag != NULL,
	};

	return arp_frame_arp(&probe, ETHERTYPE_REVARP, ARPOP_RREQUEST, ret_frame);
}

/* To the group of the target's solicited nodes (RFC 4291, 2.7.1; RFC 2464, 7). */
size_t arp_frame_solicitation(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE])
{
	uint8_t group[16] = { 0xff, 0x02, [11] = 1, [12] = 0xff };
	uint8_t group_mac[XBOND_MAC_SIZE] = { 0x33, 0x33 };
	struct solicitation packet = {
		.ip.ip6_flow = htonl(6u << 28),
		.ip.ip6_nxt = IPPROTO_ICMPV6,
		.ip.ip6_hlim = 255,
		.solicit.nd_ns_type = ND_NEIGHBOR_SOLICIT,
		.option.nd_opt_type = ND_OPT_SOURCE_LINKADDR,
		.option.nd_opt_len = 1,
	};
	size_t at, length = sizeof(packet) - sizeof(packet.ip);

	if (!memcmp(probe->source, no_address, sizeof(no_address)))
		length = sizeof(packet.solicit);
	memcpy(group + 13, probe->target + 13, 3);
	memcpy(group_mac + 2, group + 12, 4);
	packet.ip.ip6_plen = htons((uint16_t)length);
	memcpy(&packet.ip.ip6_src, probe->source, 16);
	memcpy(&packet.ip.ip6_dst, probe->to ? probe->target : group, 16);
	memcpy(&packet.solicit.nd_ns_target, probe->target, 16);
	memcpy(packet.mac, probe->mac, XBOND_MAC_SIZE);
	packet.solicit.nd_ns_cksum = checksum_icmp6(&packet.ip.ip6_src, &packet.solicit, length);
	at = arp_frame_begin(probe, probe->to ? probe->to : group_mac, ETHERTYPE_IPV6, ret_frame);
	memcpy(ret_frame + at, &packet, sizeof(packet.ip) + length);
	return at + sizeof(packet.ip) + length;
}
