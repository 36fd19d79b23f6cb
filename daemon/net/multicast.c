/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/multicast.h"

#include <errno.h>
#include <net/if.h>
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
