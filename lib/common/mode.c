/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/mode.h"

#include <string.h>

static const struct mode modes[] = {
	{ "balance-rr", "load balancing (round-robin)", XBOND_MODE_BALANCE_RR,
	  MODE_TURNS | MODE_SHARES | MODE_REPORTS | MODE_PROBES, XBOND_SELECT_TURNS },
	{ "active-backup", "fault-tolerance (active-backup)", XBOND_MODE_ACTIVE_BACKUP,
	  MODE_ACTIVE | MODE_ALONE | MODE_REPORTS | MODE_PROBES, XBOND_SELECT_ACTIVE },
	{ "balance-xor", "load balancing (xor)", XBOND_MODE_BALANCE_XOR,
	  MODE_HASH | MODE_SHARES | MODE_PROBES, XBOND_SELECT_HASH },
	{ "broadcast", "fault-tolerance (broadcast)", XBOND_MODE_BROADCAST, MODE_PROBES,
	  XBOND_SELECT_ALL },
	{ "802.3ad", "IEEE 802.3ad Dynamic link aggregation", XBOND_MODE_8023AD,
	  MODE_TURNS | MODE_HASH | MODE_SHARES | MODE_LACP | MODE_PROBES, XBOND_SELECT_HASH },
	{ "balance-tlb", "transmit load balancing", XBOND_MODE_BALANCE_TLB,
	  MODE_ACTIVE | MODE_HASH | MODE_SHARES | MODE_REPORTS | MODE_OWN_MACS, XBOND_SELECT_HASH },
	{ "balance-alb", "adaptive load balancing", XBOND_MODE_BALANCE_ALB,
	  MODE_ACTIVE | MODE_HASH | MODE_SHARES | MODE_REPORTS | MODE_OWN_MACS | MODE_RECEIVES,
	  XBOND_SELECT_HASH },
};

#define MODE_ROWS (sizeof(modes) / sizeof(modes[0]))

const struct mode *mode_at(unsigned int i)
{
	return i < MODE_ROWS ? &modes[i] : NULL;
}

const struct mode *mode_find(uint32_t number)
{
	for (const struct mode *mode = modes; mode < modes + MODE_ROWS; mode++)
		if (mode->number == number)
			return mode;
	return NULL;
}

const struct mode *mode_by_name(const char *name)
{
	for (const struct mode *mode = modes; mode < modes + MODE_ROWS; mode++)
		if (!strcmp(mode->name, name))
			return mode;
	return NULL;
}

const char *mode_name(uint32_t number)
{
	const struct mode *mode = mode_find(number);

	return mode ? mode->name : "unknown";
}

const char *mode_words(uint32_t number)
{
	const struct mode *mode = mode_find(number);

	return mode ? mode->words : "unknown";
}

const char *mode_name_of_words(const char *text)
{
	for (const struct mode *mode = modes; mode < modes + MODE_ROWS; mode++)
		if (!strncmp(text, mode->words, strlen(mode->words)))
			return mode->name;
	return NULL;
}

bool mode_has(uint32_t number, uint32_t traits)
{
	const struct mode *mode = mode_find(number);

	return mode && mode->traits & traits;
}

enum xbond_selection mode_selection(const struct xbond_bond *bond)
{
	const struct mode *mode = mode_find(bond->mode);

	if (!mode)
		return XBOND_SELECT_TURNS;
	if (mode->traits & MODE_LACP && bond->lacp_tx == XBOND_LACP_TX_BALANCE_RR)
		return XBOND_SELECT_TURNS;
	return (enum xbond_selection)mode->selection;
}

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
