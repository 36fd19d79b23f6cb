/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/attached.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

/*
 * The number of the device of a TCX or netkit link is where an XDP link has it. It is 0 if the link
 * was detached.
 */
static enum attached link_is_attached(const struct pins *pins, const char *pin)
{
	struct bpf_link_info info = {};
	uint32_t length = sizeof(info);
	char path[PATH_MAX + 32];
	enum attached attached;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pins->dir, pin);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd == -ENOENT ? ATTACHED_NOT : ATTACHED_UNKNOWN;
	attached = bpf_obj_get_info_by_fd(fd, &info, &length) ? ATTACHED_UNKNOWN
		   : info.xdp.ifindex			      ? ATTACHED
							      : ATTACHED_NOT;
	close(fd);
	return attached;
}

enum attached attached_slave(const struct pins *pins, unsigned int slot)
{
	char pin[32];

	if (pins->attached && pins->attached->missing >> slot & 1)
		return ATTACHED_NOT;
	if (pins->bond->hook == XBOND_HOOK_CLSACT || pins->slaves[slot].clsact)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	snprintf(pin, sizeof(pin), XBOND_PIN_LINK_RX "%u", slot);
	return link_is_attached(pins, pin);
}

/*
 * The programs by which bond0 transmits. A netkit has the egress program only while it is needed.
 */
enum attached attached_pair(const struct pins *pins)
{
	bool netkit = pins->bond->device_kind == XBOND_DEVICE_NETKIT;
	enum attached port;

	if (pins->attached && pins->attached->missing_bond)
		return ATTACHED_NOT;
	if (pins->bond->hook == XBOND_HOOK_CLSACT && !netkit)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	port = link_is_attached(pins, XBOND_PIN_LINK_PORT);
	return port != ATTACHED || netkit || pins->bond->hook == XBOND_HOOK_CLSACT
		       ? port
		       : link_is_attached(pins, XBOND_PIN_LINK_EGRESS);
}
