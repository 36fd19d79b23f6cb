/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ARP monitor: probes hosts by ARP requests and IPv6 neighbour solicitations, and takes out
 * slaves that hear nothing. bpf/probe.h writes down what slaves hear, rules/link_state.h says what
 * follows from it, arp_paths.h finds the way to the targets. Like the kernel's it works in
 * intervals of arp_interval: each begins with probes and ends with verdicts.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_H
#define XBOND_DAEMON_MONITOR_ARP_H

#include "daemon/bond/daemon.h"

/* Signals must be blocked. Returns 0, or -errno with a line in err. */
int arp_init(struct daemon *daemon, struct err *err);
void arp_done(struct daemon *daemon);

/*
 * The bond is new, or its options have changed: begins, begins again, or ends. The caller
 * evaluates.
 */
void arp_follow(struct bond *bond);
/* The bond ends. */
void arp_stop(struct bond *bond);

/* Whatever is due. Evaluates. For those who wait outside the event loop. */
void arp_work(struct daemon *daemon);

#endif
