/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/restored.h"

#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t bit;
	const char *name;
} restored[] = {
	{ XBOND_RESTORED_MAC, "MAC address" },
	{ XBOND_RESTORED_MTU, "MTU" },
	{ XBOND_RESTORED_FLAGS, "promiscuity and allmulti" },
	{ XBOND_RESTORED_STATE, "state" },
	{ XBOND_RESTORED_DOWN, "state" },
	{ XBOND_RESTORED_MASTER, "master" },
	{ XBOND_RESTORED_IPV6, "IPv6" },
	{ XBOND_RESTORED_SLOW, "multicast list" },
	{ XBOND_RESTORED_GROUPS, "multicast list" },
	{ XBOND_RESTORED_LRO, "rx-lro" },
	{ XBOND_RESTORED_VLAN_FILTER, "VLAN filter" },
	{ XBOND_RESTORED_INGRESS, "ingress" },
	{ XBOND_RESTORED_BACKLOG, "ingress" },
	{ XBOND_RESTORED_XDP, "XDP program" },
};

const char *restored_name(uint32_t bit)
{
	for (size_t i = 0; i < sizeof(restored) / sizeof(restored[0]); i++)
		if (restored[i].bit == bit)
			return restored[i].name;
	return "rest";
}

const char *restored_left(uint32_t done, char *text, size_t size)
{
	const char *last = "";
	size_t at = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(restored) / sizeof(restored[0]); i++) {
		if (done & restored[i].bit || !strcmp(restored[i].name, last))
			continue;
		last = restored[i].name;
		at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", last);
		if (at >= size)
			break;
	}
	return text;
}

/* One that did not become a slave is left, too, if not all could be taken back. */
static bool restored_is_left(const struct xbond_slave *slave)
{
	return slave->state == XBOND_SLOT_RELEASING ||
	       (slave->state == XBOND_SLOT_ENSLAVING && slave->restored);
}

const char *restored_left_of(const struct pins *pins, char text[RESTORED_TEXT_SIZE])
{
	char what[RESTORED_TEXT_SIZE];
	size_t at = 0;

	*text = '\0';
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && at < RESTORED_TEXT_SIZE; slot++) {
		const struct xbond_slave *slave = &pins->slaves[slot];

		if (restored_is_left(slave))
			at += (size_t)snprintf(text + at, RESTORED_TEXT_SIZE - at, "%s%s: %s",
					       at ? "; " : "", slave->name,
					       restored_left(slave->restored, what, sizeof(what)));
	}
	return text;
}
