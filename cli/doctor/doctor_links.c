/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the bond's carrier, of its slaves' links, and of how packets spread over them. */
#include <net/if.h>

#include "bpf/slots.h"
#include "cli/doctor/doctor.h"
#include "common/mode.h"
#include "common/readings.h"
#include "options/values.h"
#include "rules/buckets.h"
#include "rules/link_state.h"
#include "view/view_bond.h"

static inline bool doctor_is_up(const struct doctor_slave *slave)
{
	return slave->pin->link == XBOND_LINK_UP;
}

#define LINKS_BROKEN_MIN 10 /* fewer broken frames are nothing */
#define LINKS_BROKEN_PPM 10
#define LINKS_LOST_PPM 1000
#define LINKS_MILLION 1000000
#define LINKS_PACKETS_MIN 100000 /* fewer are too few to speak of shares */
/* A map that is too small is not full all the time, because old clients are forgotten. */
#define LINKS_CLIENTS_MANY (XBOND_MAX_CLIENTS / 8 * 7)

void doctor_check_carrier(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	if (!bond->slave_count) {
		doctor_found(report, DOCTOR_NOTE, NULL, "it has no slaves");
		doctor_advise(report, "add some: bondctl add-slave %s DEV...", bond->name);
	} else if (!doctor_is_meant_to_work(bond)) {
		doctor_found(report, DOCTOR_NOTE, NULL, "it is administratively down");
		doctor_advise(report, "bring it up: ip link set %s up", bond->name);
	} else if (!bond->pins.bond->carrier) {
		doctor_found(report, DOCTOR_BAD, NULL,
			     "it has no carrier: too few of its slaves can be used");
		doctor_advise(report, "see below why not, or 'bondctl show %s'", bond->name);
	}
}

void doctor_check_device(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 struct doctor_report *report)
{
	unsigned int seen = 0;

	doctor_for_each_slave (slave, bond)
		seen += !!slave->device.link;
	if (bond->slave_count && !seen && !bond->device.link) {
		doctor_found(
			report, DOCTOR_WARNING, NULL,
			"its devices are not in this network namespace, so they are not checked");
		doctor_advise(report,
			      "run doctor in the namespace of its bondd: nsenter --net=...");
		return;
	}
	doctor_for_each_slave (slave, bond) {
		if (slave->device.link)
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name, "its device is gone");
		doctor_advise(report, "bondd releases it when it runs");
	}
	if (!bond->device.link && bond->pins.bond->netnsid < 0) {
		doctor_found(report, DOCTOR_BAD, NULL, "the device %s is gone", bond->name);
		doctor_advise(report, "remove the rest: bondctl delete %s", bond->name);
	}
}

/* Those whose slaves have their own check, because they are held down. */
static uint32_t links_holding(const struct doctor_bond *bond, unsigned int slot)
{
	return view_refusing(&bond->pins, slot) & ~XBOND_MONITORS_HARD;
}

/* By the first monitor that says no, which is the one that `why` tells. */
static const char *links_advice(const struct doctor_bond *bond, unsigned int slot)
{
	uint32_t refusing = view_refusing(&bond->pins, slot);

	if (refusing && __builtin_ctz(refusing) == XBOND_MONITOR_ARP &&
	    doctor_arp_needs_each_link(bond))
		return "the far end may reply by other links only, which is no fault there: "
		       "arp_interval is for active-backup, bfd_interval for every mode";
	if (refusing && __builtin_ctz(refusing) == XBOND_MONITOR_ARP)
		return "see whether the targets are there and can be reached over this link";
	if (refusing && __builtin_ctz(refusing) == XBOND_MONITOR_BFD)
		return "see whether packets pass on this link both ways, and BFD at the far end";
	return "check cable, transceiver and far end";
}

/* Without bondd, its pins may still say that such a slave is up. */
static bool links_is_set_down(const struct doctor_slave *slave)
{
	return slave->device.link && !(slave->device.link->flags & IFF_UP);
}

static void links_check_slave(const struct doctor_bond *bond, const struct doctor_slave *slave,
			      struct doctor_report *report)
{
	if (links_is_set_down(slave)) {
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "it is administratively down");
		doctor_advise(report, "bring it up: ip link set %s up", slave->pin->name);
	} else if (slave->pin->link == XBOND_LINK_GOING_UP) {
		doctor_found(report, DOCTOR_NOTE, slave->pin->name, "it is not used yet: %s",
			     slave->why[0] ? slave->why : "updelay is running");
		doctor_advise(report, "wait; 'bondctl set %s updelay 0' ends the delay",
			      bond->name);
	} else if (!doctor_is_up(slave) && !links_holding(bond, slave->slot)) {
		doctor_found(report, DOCTOR_WARNING, slave->pin->name, "it is not used: %s",
			     slave->why[0] ? slave->why : "its link is down");
		doctor_advise(report, "%s; its link has failed %u time%s",
			      links_advice(bond, slave->slot), slave->pin->link_failures,
			      slave->pin->link_failures == 1 ? "" : "s");
	}
}

void doctor_check_link(const struct doctor_facts *facts, const struct doctor_bond *bond,
		       struct doctor_report *report)
{
	if (!doctor_is_meant_to_work(bond))
		return;
	doctor_for_each_slave (slave, bond)
		links_check_slave(bond, slave, report);
}

static const char *links_limit(enum xbond_monitor monitor)
{
	if (monitor == XBOND_MONITOR_FLAPS)
		return "flap_limit";
	return monitor == XBOND_MONITOR_SILENCE ? "rx_silence" : "error_limit";
}

/* A slave that nothing but its monitor speaks against may still be a backup, or drained. */
static void links_tell_held(const struct doctor_bond *bond, const struct doctor_slave *slave,
			    struct doctor_report *report)
{
	enum xbond_monitor monitor =
		(enum xbond_monitor)__builtin_ctz(links_holding(bond, slave->slot));
	const char *found = monitor_finding(monitor);

	if (doctor_is_up(slave))
		doctor_found(report, DOCTOR_WARNING, slave->pin->name, "it %s although %s: %s",
			     slave->why[0] ? "may be used" : "is used", found,
			     monitor_why_used(bond->pins.bond->min_links));
	else
		doctor_found(report, DOCTOR_WARNING, slave->pin->name, "it is not used: %s",
			     slave->why[0] ? slave->why : found);
	doctor_advise(report, "check cable, transceiver and far end; %s is the limit",
		      links_limit(monitor));
}

void doctor_check_hold_down(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond)
		if (links_holding(bond, slave->slot))
			links_tell_held(bond, slave, report);
}

static void links_check_duplex(const struct doctor_bond *bond, struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		if (!doctor_is_up(slave) || slave->pin->duplex != LACP_DUPLEX_HALF)
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name, "its link is half duplex%s",
			     doctor_is_lacp(bond) ? ", so LACP does not use it" : "");
		doctor_advise(report, "let both ends negotiate: ethtool -s %s autoneg on",
			      slave->pin->name);
	}
}

void doctor_check_speed(const struct doctor_facts *facts, const struct doctor_bond *bond,
			struct doctor_report *report)
{
	const struct xbond_slave *first = NULL;

	links_check_duplex(bond, report);
	if (bond->pins.table->selection != XBOND_SELECT_TURNS)
		return;
	doctor_for_each_slave (slave, bond) {
		if (!doctor_is_up(slave) || !slave->pin->speed_mbps)
			continue;
		if (!first)
			first = slave->pin;
		if (slave->pin->speed_mbps == first->speed_mbps)
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "packets take turns between %u Mbit/s here and %u Mbit/s on %s, so "
			     "they arrive out of order",
			     slave->pin->speed_mbps, first->speed_mbps, first->name);
		doctor_advise(report, "use links of one speed, or mode balance-xor or 802.3ad, "
				      "which keep a flow on one link");
	}
}

static void links_check_broken(const struct doctor_slave *slave, struct doctor_report *report)
{
	const struct error_counters *rx = &slave->device.stats.rx;
	uint64_t broken = error_rate_broken(rx);

	if (broken < LINKS_BROKEN_MIN || broken / LINKS_BROKEN_PPM <= rx->packets / LINKS_MILLION)
		return;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "%llu received frames were broken, and %llu were good",
		     (unsigned long long)broken, (unsigned long long)rx->packets);
	doctor_advise(report, "change cable or transceiver; error_limit takes such a slave out of "
			      "use");
}

static void links_check_full(const struct doctor_slave *slave, struct doctor_report *report)
{
	const struct error_counters *rx = &slave->device.stats.rx;
	uint64_t lost = rx->missed > rx->fifo ? rx->missed : rx->fifo;

	if (lost < LINKS_BROKEN_MIN || lost / LINKS_LOST_PPM <= rx->packets / LINKS_MILLION)
		return;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "its NIC had no buffers for %llu frames, and received %llu",
		     (unsigned long long)lost, (unsigned long long)rx->packets);
	doctor_advise(report, "enlarge its rings or spread its queues: ethtool -G, ethtool -L");
}

void doctor_check_errors(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		if (!slave->device.stats_are_known)
			continue;
		links_check_broken(slave, report);
		links_check_full(slave, report);
	}
}

/* One direction of the traffic over the slaves in use. */
struct links_traffic {
	uint64_t sum, weights;
	uint64_t packets[XBOND_MAX_SLAVES];
};

static unsigned int links_percent(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned int)(100 * (double)part / (double)whole) : 0;
}

/* The slave with most of the traffic, if that is far beyond its share; NULL otherwise. */
static const struct doctor_slave *links_find_greedy(const struct doctor_bond *bond,
						    const struct links_traffic *traffic,
						    const uint32_t *weight)
{
	if (traffic->sum < LINKS_PACKETS_MIN)
		return NULL;
	doctor_for_each_slave (slave, bond) {
		unsigned int fair = links_percent(weight[slave->slot], traffic->weights);

		if (weight[slave->slot] && fair <= 67 &&
		    links_percent(traffic->packets[slave->slot], traffic->sum) >= 95)
			return slave;
	}
	return NULL;
}

static const char *links_send_advice(const struct doctor_bond *bond)
{
	if (bond->pins.settings->xmit_hash_policy == XBOND_POLICY_LAYER2)
		return "layer2 sends everything for one router through one slave; set "
		       "xmit_hash_policy layer3+4";
	return "few flows spread unevenly; 'bondctl explain' says which slave a flow takes";
}

void doctor_check_balance(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	uint64_t slots = values_tx_slots(&bond->pins);
	uint32_t member_weight[XBOND_MAX_SLAVES], weight[XBOND_MAX_SLAVES];
	struct links_traffic tx = { 0 }, rx = { 0 };
	const struct doctor_slave *greedy;

	if (bond->pins.table->selection != XBOND_SELECT_HASH || slots_count(slots) < 2)
		return;
	weights_of(&bond->pins, slots, member_weight, weight);
	doctor_for_each_slave (slave, bond) {
		if (!slots_have(slots, slave->slot))
			continue;
		tx.sum += tx.packets[slave->slot] = slave->counters.tx_packets;
		rx.sum += rx.packets[slave->slot] = slave->counters.rx_packets;
		tx.weights += weight[slave->slot];
	}
	rx.weights = tx.weights;
	greedy = links_find_greedy(bond, &tx, weight);
	if (greedy) {
		doctor_found(report, DOCTOR_NOTE, greedy->pin->name,
			     "it has sent %u %% of all packets",
			     links_percent(greedy->counters.tx_packets, tx.sum));
		doctor_advise(report, "%s", links_send_advice(bond));
	}
	greedy = links_find_greedy(bond, &rx, weight);
	if (greedy) {
		doctor_found(report, DOCTOR_NOTE, greedy->pin->name,
			     "it has received %u %% of all packets",
			     links_percent(greedy->counters.rx_packets, rx.sum));
		doctor_advise(report, "the far end chooses that by its own hash: set it there to "
				      "use IP addresses and ports");
	}
}

void doctor_check_clients(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	int count = mode_has(bond->pins.bond->mode, MODE_RECEIVES)
			    ? client_table_size(bond->pins.clients_fd)
			    : 0;

	if (count <= LINKS_CLIENTS_MANY)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "its map of clients is full, or nearly so (%d of %d entries): neighbours for "
		     "which it has no room send to the bond's address, so the active slave "
		     "receives what they send",
		     count, XBOND_MAX_CLIENTS);
	doctor_advise(report, "if so many hosts are in its networks, a bond in mode 802.3ad has no "
			      "such limit; otherwise look for one that scans, or forges addresses");
}
