/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/packet.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/abi.h"

int packet_open(void)
{
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
}

int packet_open_control(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int priority = TC_PRIO_CONTROL;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	return fd;
}

void packet_send(int fd, int ifindex, const void *frame, size_t size)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = ifindex,
				  .sll_halen = XBOND_MAC_SIZE };
	ssize_t sent = sendto(fd, frame, size, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));

	(void)sent;
}

struct ether_arp packet_arp(uint16_t operation, const uint8_t *mac, const uint8_t source[4],
			    const uint8_t target[4])
{
	struct ether_arp arp = {
		.ea_hdr.ar_hrd = htons(ARPHRD_ETHER),
		.ea_hdr.ar_pro = htons(ETHERTYPE_IP),
		.ea_hdr.ar_hln = XBOND_MAC_SIZE,
		.ea_hdr.ar_pln = 4,
		.ea_hdr.ar_op = htons(operation),
	};

	memcpy(arp.arp_sha, mac, XBOND_MAC_SIZE);
	memcpy(arp.arp_spa, source, 4);
	memcpy(arp.arp_tpa, target, 4);
	if (operation == ARPOP_RREQUEST)
		memcpy(arp.arp_tha, mac, XBOND_MAC_SIZE);
	return arp;
}

size_t capture_list(int *ret_ifindexes, size_t max)
{
	FILE *file = fopen("/proc/net/packet", "re");
	unsigned int protocol;
	char line[256];
	size_t count = 0;
	int ifindex;

	if (!file)
		return 0;
	/* sk RefCnt Type Proto Iface R Rmem User Inode */
	while (count < max && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*s %*s %x %d", &protocol, &ifindex) == 2 &&
		    protocol == ETH_P_ALL && ifindex)
			ret_ifindexes[count++] = ifindex;
	fclose(file);
	return count;
}
