/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/attached.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/pin.h"
#include "common/slots.h"

static enum attached attached_link_is_attached(const struct pins *pins, const char *pin)
{
	int fd = pin_open(pins->dir, pin), r;
	struct pin_link link;

	if (fd < 0)
		return fd == -ENOENT ? ATTACHED_NOT : ATTACHED_UNKNOWN;
	r = pin_link_read(fd, &link);
	close(fd);
	if (r)
		return ATTACHED_UNKNOWN;
	return link.ifindex ? ATTACHED : ATTACHED_NOT;
}

enum attached attached_slave(const struct pins *pins, unsigned int slot)
{
	char pin[32];

	if (pins->attached && slots_have(pins->attached->missing, slot))
		return ATTACHED_NOT;
	if (pins->bond->hook == XBOND_HOOK_CLSACT || pins->slaves[slot].clsact)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	snprintf(pin, sizeof(pin), XBOND_PIN_LINK_RX "%u", slot);
	return attached_link_is_attached(pins, pin);
}

/*
 * The programs by which bond0 transmits. A netkit has the egress program only while it is needed, a
 * team only that.
 */
enum attached attached_pair(const struct pins *pins)
{
	bool netkit = pins->bond->device_kind == XBOND_DEVICE_NETKIT;
	bool team = pins->bond->device_kind == XBOND_DEVICE_TEAM;
	enum attached port;

	if (pins->attached && pins->attached->missing_bond)
		return ATTACHED_NOT;
	if (pins->bond->hook == XBOND_HOOK_CLSACT && !netkit)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	port = team ? ATTACHED : attached_link_is_attached(pins, XBOND_PIN_LINK_PORT);
	return port != ATTACHED || netkit || pins->bond->hook == XBOND_HOOK_CLSACT
		       ? port
		       : attached_link_is_attached(pins, XBOND_PIN_LINK_EGRESS);
}
