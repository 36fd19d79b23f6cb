/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/packet.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
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
