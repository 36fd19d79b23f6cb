/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/pin.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

const char *pin_path(char ret_path[PIN_PATH_SIZE], const char *dir, const char *name)
{
	snprintf(ret_path, PIN_PATH_SIZE, "%s/%s", dir, name);
	return ret_path;
}

int pin_open(const char *dir, const char *name)
{
	char path[PIN_PATH_SIZE];

	return bpf_obj_get(pin_path(path, dir, name));
}

int pin_link_detach(const char *path)
{
	int fd = bpf_obj_get(path), r;

	if (fd < 0)
		return fd;
	r = bpf_link_detach(fd);
	close(fd);
	if (!r)
		unlink(path);
	return r;
}

/*
 * The device's number is where an XDP link has it. The headers of Debian bookworm know only that.
 */
int pin_link_read(int link_fd, struct pin_link *ret_link)
{
	struct bpf_link_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(link_fd, &info, &length);

	if (!r)
		*ret_link = (struct pin_link){ info.prog_id, info.xdp.ifindex };
	return r;
}
