/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/net/ipv6.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_switch(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	return open(path, flags | O_CLOEXEC);
}

int ipv6_disabled(const char *name)
{
	int fd = open_switch(name, O_RDONLY);
	char digit = 0;

	if (fd < 0)
		return -1;
	if (read(fd, &digit, 1) != 1)
		digit = 0;
	close(fd);
	return digit == '0' || digit == '1' ? digit - '0' : -1;
}

int ipv6_set_disabled(const char *name, int disabled)
{
	int fd = open_switch(name, O_WRONLY), r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, disabled ? "1" : "0", 1) != 1)
		r = -errno;
	close(fd);
	return r;
}
