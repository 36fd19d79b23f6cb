/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/monitor.h"

static const struct {
	const char *name, *finding;
} monitors[XBOND_MONITORS] = {
	[XBOND_MONITOR_CARRIER] = { "carrier", "no carrier" },
	[XBOND_MONITOR_ARP] = { "arp", "its ARP or NS targets do not answer" },
	[XBOND_MONITOR_BFD] = { "bfd", "its BFD session is down" },
	[XBOND_MONITOR_FLAPS] = { "flaps", "it is held down because it flaps" },
	[XBOND_MONITOR_SILENCE] = { "silence", "it receives nothing" },
	[XBOND_MONITOR_ERRORS] = { "errors", "it receives too many broken frames" },
};

const char *monitor_name(enum xbond_monitor monitor)
{
	return monitors[monitor].name;
}

const char *monitor_finding(enum xbond_monitor monitor)
{
	return monitors[monitor].finding;
}

const char *monitor_why_used(uint32_t min_links)
{
	return min_links > 1 ? "fewer than min_links others work" : "no other slave works";
}
