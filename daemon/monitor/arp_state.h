/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the ARP monitor keeps of one bond, for arp.c, arp_judge.c and arp_send.c. */
#ifndef XBOND_DAEMON_MONITOR_ARP_STATE_H
#define XBOND_DAEMON_MONITOR_ARP_STATE_H

#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp_paths.h"
#include "rules/link_state.h"

struct arp_slave {
	uint64_t since_ns; /* member.since_ns of the slave that the rest is about */
	struct probing_state state;
	uint64_t frames;    /* received so far, as last counted */
	uint64_t frames_ns; /* when there were more than before */
};

struct arp_monitor {
	uint64_t started_ns;
	uint64_t next_ns;  /* when this interval ends */
	uint64_t begun_ns; /* when it began; 0: no probe has been sent */
	uint64_t asked_ns; /* when the paths were last asked for; 0: they are due */
	bool has_paths;
	bool is_dear; /* to ask for them, as the thread has found out */
	struct arp_path path[XBOND_PROBE_TARGETS];
	unsigned int active;	/* the active slave of the last interval */
	unsigned int candidate; /* whose turn it was when there was none */
	struct arp_slave slave[XBOND_MAX_SLAVES];
};

/* The end of an interval. Returns true if a verdict has changed; the caller then evaluates. */
bool arp_judge(struct bond *bond, uint64_t now_ns);
/* The slave gets a new grace. */
void arp_spare(struct bond *bond, unsigned int slot, uint64_t now_ns);
/* The MAC address of the sender, unless slaves have addresses of their own. */
const uint8_t *arp_mac(struct bond *bond, const struct arp_path *path);
/* The beginning of an interval: probes the targets. */
void arp_send(struct bond *bond, uint64_t now_ns);

#endif
