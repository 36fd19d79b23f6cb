/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/multicast.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int change(unsigned long request, const char *name, const uint8_t *mac)
{
	struct ifreq ifr = { .ifr_hwaddr.sa_family = AF_UNSPEC };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	memcpy(ifr.ifr_hwaddr.sa_data, mac, XBOND_MAC_SIZE);
	if (ioctl(fd, request, &ifr) < 0)
		r = -errno;
	close(fd);
	return r;
}

int multicast_add(const char *name, const uint8_t mac[XBOND_MAC_SIZE])
{
	return change(SIOCADDMULTI, name, mac);
}

int multicast_delete(const char *name, const uint8_t mac[XBOND_MAC_SIZE])
{
	return change(SIOCDELMULTI, name, mac);
}

/* A line of /proc/net/dev_mcast: ifindex, name, uses, whether one is global, address. */
static bool parse(const char *line, int *ret_ifindex, uint8_t *ret_mac)
{
	char mac[2 * XBOND_MAC_SIZE + 1];

	if (sscanf(line, "%d %*s %*d %*d %12[0-9a-f]", ret_ifindex, mac) != 2 ||
	    strlen(mac) != sizeof(mac) - 1)
		return false;
	for (int i = 0; i < XBOND_MAC_SIZE; i++)
		sscanf(mac + 2 * i, "%2hhx", &ret_mac[i]);
	return true;
}

int multicast_list(multicast_visit visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/dev_mcast", "re");
	uint8_t mac[XBOND_MAC_SIZE];
	char line[256];
	int ifindex;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (parse(line, &ifindex, mac))
			visit(ifindex, mac, arg);
	fclose(file);
	return 0;
}
