/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitors: what says whether a slave's link works. Each has a section below.
 *
 * The door through which every verdict on a slave's link reaches its bond. The monitors call it;
 * bond_link_works() and bond_link_why() read what they said. The map of monitors has a copy.
 */
#ifndef XBOND_DAEMON_MONITOR_MONITOR_H
#define XBOND_DAEMON_MONITOR_MONITOR_H

#include "bpf/linkwatch.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"
#include "options/option_set.h"

/*
 * The monitor says whether the link works. Returns true if it has not said so before; the caller
 * then evaluates the bond.
 */
bool verdict_set(struct bond *bond, unsigned int slot, enum xbond_monitor monitor, bool works);
/* It no longer has a verdict. Returns true if its last one was no; the caller then evaluates. */
bool verdict_forget(struct bond *bond, unsigned int slot, enum xbond_monitor monitor);
/* Does the monitor say that the link works? */
bool verdict_of(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor);
/* Has it a verdict? */
bool verdict_is_known(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor);

/* The slave is new: nobody has a verdict. */
void verdict_begin(struct bond *bond, unsigned int slot);
/* The slave is taken over from another bondd, with the verdicts that it left. */
void verdict_adopt(struct bond *bond, unsigned int slot);

/* The slave that a thread is asked about. Threads know no bonds. */
struct asked_slave {
	uint32_t bond; /* the ifindex of its port side */
	uint32_t slot, ifindex;
};

struct asked_slave asked_slave(struct bond *bond, unsigned int slot);
/*
 * Its bond; NULL: this slave is not there any more. before: the bond of one that was asked about
 * before it, in the order of the bonds, or NULL. So many answers do not search all bonds each.
 */
struct bond *asked_slave_bond(struct daemon *daemon, struct bond *before,
			      const struct asked_slave *asked);

/*
 * The kernel's messages about a slave's carrier: the fast half of XBOND_MONITOR_CARRIER. The other
 * half is the poll, which asks the driver, and decides when a message may be old.
 */

/* Handles a link message of a member. Evaluates. */
void carrier_message_take(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * The same, while the main loop waits for something else, and only for a message that the device is
 * gone or has no carrier. Evaluates.
 */
void carrier_message_take_loss(struct bond *bond, unsigned int slot, uint64_t now_ns);

/*
 * Asks the kernel's devices for the carriers of all slaves of a bond, in microseconds and without
 * a lock. Used by the poll and by what wakes bondd. Where the kernel lets programs read no devices
 * (before Linux 6.2), the poll asks the drivers instead.
 */

/* since_ns: when a loss that is found now began. Evaluates. Returns false if it cannot look. */
bool look_take(struct bond *bond, uint64_t since_ns);

/*
 * The poll of carrier, the safety net under the kernel's messages. Every bond is polled at its
 * miimon. One timer serves all, so bonds with the same miimon cost one wakeup.
 */

/* Returns 0 or -errno. */
int poll_init(struct daemon *daemon);
void poll_done(struct daemon *daemon);
/* The bond is new or has another miimon: its next poll is one miimon from now. */
void poll_schedule(struct bond *bond);
/* The next poll asks for the slave's speed, too. */
void poll_want_speed(struct bond *bond, unsigned int slot);
/* Polls as soon as the poller has time. */
void poll_soon(struct bond *bond);
/*
 * Lets a thread ask the drivers of all bonds that are due. Takes its answers and
 * evaluates the bonds.
 */
void poll_ask(struct daemon *daemon);
void poll_answer(struct daemon *daemon);

/*
 * Wakes bondd when a link changes, before the kernel's message does: by what a packet tells that
 * avoids a slave (bpf/netdev.h), and by carrier_watch.c for links without packets. In each case all
 * slaves are looked at.
 */

/* Returns 0 or -errno. */
int wake_init(struct daemon *daemon);
void wake_done(struct daemon *daemon);
/* The bond begins and ends. */
void wake_add(struct bond *bond);
void wake_remove(struct bond *bond);
/* Readable when there is something for wake_read(). */
int wake_fd(const struct daemon *daemon);
/* Reads what there is. Evaluates. */
void wake_read(struct daemon *daemon);
/* Watches the slaves that there are now. Called twice a second. */
void wake_settle(struct daemon *daemon);

/*
 * carrier_watch.c, for wake.c alone: programs that tell of a change of carrier before the kernel's
 * message does (linkwatch.bpf.c), for all bonds at once. Where the kernel refuses them, messages
 * and the poll are what is left. Knows no bonds.
 */

struct carrier_watch;

/* Tells of a device; not if only tracepoints are in force. */
typedef void (*carrier_watch_fn)(void *arg, const struct watch_record *record);

/*
 * NULL: libbpf could not find out what this kernel can, for want of memory, and will not ask it
 * again; only the next bondd does.
 */
struct carrier_watch *carrier_watch_new(carrier_watch_fn on_change, void *arg);
void carrier_watch_free(struct carrier_watch *watch);
/* What is in force. */
enum xbond_carrier_source carrier_watch_source(const struct carrier_watch *watch);
/* Readable when carrier_watch_read() has something to read; -1: it never has. */
int carrier_watch_fd(const struct carrier_watch *watch);
/* The devices to tell of. They are in the namespace with this cookie. */
void carrier_watch_set(struct carrier_watch *watch, uint64_t netns_cookie,
		       const uint32_t *ifindexes, unsigned int count);
/*
 * Raises the doubt of a bond, the map of this descriptor, at each loss. Returns a place, for
 * carrier_watch_drop_doubt(); -1: nothing raises it.
 */
int carrier_watch_add_doubt(struct carrier_watch *watch, int map_fd);
void carrier_watch_drop_doubt(struct carrier_watch *watch, int place);
/* Returns the time of the first change since the last call; 0: there was none. */
uint64_t carrier_watch_read(struct carrier_watch *watch);
/* May further changes come of which nothing tells? Then look from time to time. */
bool carrier_watch_is_blind(struct carrier_watch *watch);

/*
 * The ARP monitor: probes hosts by ARP requests and IPv6 neighbour solicitations, and takes out
 * slaves that hear nothing. bpf/probe.h writes down what slaves hear, rules/link_state.h says what
 * follows from it, arp_paths.c finds the way to the targets. Like the kernel's it works in
 * intervals of arp_interval: each begins with probes and ends with verdicts.
 */

/* Signals must be blocked. Returns 0, or -errno with a line in err. */
int arp_init(struct daemon *daemon, struct err *err);
void arp_done(struct daemon *daemon);

/*
 * The bond is new, or its options have changed: begins, begins again, or ends. The caller
 * evaluates.
 */
void arp_configure(struct bond *bond);
#define ARP_LACKS_TARGETS "the ARP monitor does nothing until arp_ip_target or ns_ip6_target is set"
bool arp_has_targets(struct bond *bond);
extern struct part arp_part, poll_part, quality_part, wake_part;

/* Whatever is due. Evaluates. For those who wait outside the event loop. */
void arp_work(struct daemon *daemon);

/*
 * micro-BFD (RFC 7130) as a link monitor: takes over what the sessions of the BFD thread say of
 * their links. As long as no session of a bond has been up, none has a verdict, because the far end
 * may not speak BFD. docs/developers/bfd.md has the rules.
 */

/* Before the first evaluation of a bond of another bondd: its sessions go on. */
void monitor_bfd_adopt(struct bond *bond);
/* When the BFD thread's news_fd is readable. Evaluates. */
void monitor_bfd_take_news(struct daemon *daemon);

/*
 * The monitors of a link's quality: flap_limit, rx_silence and error_limit. A thread reads the
 * devices' counters while one of these options is on; the rules are in rules/. What has been found
 * is pinned, so that hold-downs go on under the next bondd. Their no counts only while another
 * slave works (bond_link_works()).
 */

/* Returns 0 or -errno. */
int quality_init(struct daemon *daemon);
void quality_done(struct daemon *daemon);

/* The bond is new or adopted: its counters are read soon, if an option asks for that. */
void quality_schedule(struct bond *bond);
/* Options of the bond were set. What was counted for those is forgotten; hold-downs end. */
void quality_configure(struct bond *bond, const struct option_set *options);

/* The slave is new. */
void quality_begin(struct bond *bond, unsigned int slot);
/* bondd changes the device, which may cost its carrier: that is no flap. */
void quality_excuse(struct bond *bond, unsigned int slot);

#endif
