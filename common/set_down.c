/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/set_down.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool set_down_is(const char *name, const uint8_t mac[XBOND_MAC_SIZE])
{
	struct ifreq request = { 0 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_down;

	if (fd < 0)
		return false;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	is_down = !ioctl(fd, SIOCGIFHWADDR, &request) &&
		  !memcmp(request.ifr_hwaddr.sa_data, mac, XBOND_MAC_SIZE) &&
		  !ioctl(fd, SIOCGIFFLAGS, &request) && !(request.ifr_flags & IFF_UP);
	close(fd);
	return is_down;
}
