/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/client_tell.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp_frames.h"
#include "daemon/monitor/arp_sender.h"

#define BURST 2

/*
 * IPv6 clients get a solicitation, which also has the sender's address. An advertisement would have
 * to say whether bond0 is a router, and they would believe it.
 */
void client_tell(struct bond *bond, unsigned int slot, const struct client_entry *entry)
{
	const struct arp_tag tag = { ntohs(entry->key.vlan_protocol), entry->key.vlan };
	uint8_t told[XBOND_MAC_SIZE], to[XBOND_MAC_SIZE], frame[ARP_FRAME_SIZE];
	const struct arp_probe probe = {
		.source = entry->key.own,
		.target = entry->key.peer,
		.mac = told,
		.to = to,
		.tags = &tag,
		.tag_count = tag.protocol != 0,
	};
	size_t size;

	memcpy(told, &entry->client.told, sizeof(told));
	memcpy(to, &entry->client.mac, sizeof(to));
	size = entry->key.family == AF_INET ? arp_frame_reply(&probe, frame)
					    : arp_frame_solicitation(&probe, frame);
	for (int i = 0; i < BURST; i++)
		arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex,
			       frame, size);
}
