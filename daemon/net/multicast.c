/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/multicast.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

const uint8_t multicast_slow_protocols[XBOND_MAC_SIZE] = { 0x01, 0x80, 0xc2, 0, 0, 0x02 };

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

/* False when text is not so many bytes. */
static bool parse_hex(const char *text, uint8_t *ret_bytes, size_t size)
{
	if (strlen(text) != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++)
		sscanf(text + 2 * i, "%2hhx", &ret_bytes[i]);
	return true;
}

/* A line: ifindex, name, uses, whether one is global, address. */
int multicast_list(multicast_visit visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/dev_mcast", "re");
	char line[256], text[2 * XBOND_MAC_SIZE + 1];
	uint8_t mac[XBOND_MAC_SIZE];
	int ifindex;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%d %*s %*d %*d %12[0-9a-f]", &ifindex, text) == 2 &&
		    parse_hex(text, mac, sizeof(mac)))
			visit(ifindex, mac, arg);
	fclose(file);
	return 0;
}

/* A device's line begins with its number; its groups follow, indented, each the word of memory as a number. */
int multicast_list_ipv4(multicast_group visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/igmp", "re");
	uint32_t group;
	int ifindex = 0;
	char line[256];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] != '\t')
			ifindex = atoi(line);
		else if (sscanf(line, " %8x", &group) == 1)
			visit(ifindex, (const uint8_t *)&group, arg);
	}
	fclose(file);
	return 0;
}

/* A line: ifindex, name, address. */
int multicast_list_ipv6(multicast_group visit, void *arg)
{
	FILE *file = fopen("/proc/thread-self/net/igmp6", "re");
	char line[256], text[33];
	uint8_t group[16];
	int ifindex;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%d %*s %32[0-9a-f]", &ifindex, text) == 2 &&
		    parse_hex(text, group, sizeof(group)))
			visit(ifindex, group, arg);
	fclose(file);
	return 0;
}
