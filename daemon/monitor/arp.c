/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/monitor.h"

#include <errno.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/mode.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/monitor/arp.h"
#include "rules/link_state.h"

struct arp_slave {
	uint64_t since_ns; /* member.since_ns of the slave that the rest is about */
	struct probing_state state;
	uint64_t frames;    /* received so far, as last counted */
	uint64_t frames_ns; /* when there were more than before */
};

struct arp_monitor {
	uint64_t started_ns; /* 0: the monitor is off */
	uint64_t next_ns;    /* when this interval ends */
	uint64_t begun_ns;   /* when it began; 0: no probe has been sent */
	struct arp_paths paths;
	unsigned int active;	/* the active slave of the last interval */
	unsigned int candidate; /* whose turn it was when there was none */
	struct arp_slave slave[XBOND_MAX_SLAVES];
};

static struct arp_monitor *arp_of(const struct bond *bond)
{
	return part_of_bond(bond, &arp_part);
}

static bool arp_is_on(const struct bond *bond)
{
	return arp_of(bond)->started_ns;
}

struct arp_paths *arp_paths_of(const struct bond *bond)
{
	return arp_is_on(bond) ? &arp_of(bond)->paths : NULL;
}

void arp_begin(struct bond *bond)
{
	arp_of(bond)->next_ns = clock_now_ns();
}

/* From what the receive programs have written down to verdicts, by rules/link_state.h. */

static bool arp_has_active_mode(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_ALONE);
}

static enum probing_role arp_role(struct bond *bond, unsigned int slot)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (!arp_has_active_mode(bond) || slot == active)
		return PROBING_ACTIVE;
	if (active < XBOND_MAX_SLAVES)
		return PROBING_BACKUP;
	return slot == arp_of(bond)->candidate ? PROBING_CANDIDATE : PROBING_OTHER;
}

static struct probing_rule arp_rule(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct probing_rule rule = {
		.validate = pin->arp_validate,
		.all_targets = pin->arp_all_targets && arp_has_active_mode(bond),
		.missed_max = pin->arp_missed_max,
		.interval_ns = pin->arp_interval_ms * NS_PER_MS,
	};

	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		rule.targets |= (uint32_t)arp_of(bond)->paths.path[i].leads << i;
	return rule;
}

/* The slave gets a new grace. */
static void arp_spare(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	arp_of(bond)->slave[slot].state = (struct probing_state){ .since_ns = now_ns };
}

/* A slave that was added while the monitor was on must not inherit what its slot has heard. */
static void arp_meet(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct arp_slave *slave = &arp_of(bond)->slave[slot];
	uint64_t since_ns = bond->members[slot].since_ns;

	if (slave->since_ns == since_ns)
		return;
	*slave = (struct arp_slave){ .since_ns = since_ns };
	arp_spare(bond, slot, now_ns);
	if (since_ns > arp_of(bond)->started_ns)
		memset(&bond->dataplane.pins.probes->times[slot], 0,
		       sizeof(struct xbond_probe_times));
}

/* Frames have no times, so those of an interval count from its end. */
static void arp_count_frames(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct arp_slave *slave = &arp_of(bond)->slave[slot];
	struct xbond_counters counters;
	uint64_t frames;

	if (pins_counters(&bond->dataplane.pins, slot, &counters))
		return;
	frames = counters.rx_packets + counters.rx_dropped;
	if (frames > slave->frames && arp_of(bond)->begun_ns)
		slave->frames_ns = now_ns;
	slave->frames = frames;
}

static uint64_t arp_last_ns(struct bond *bond, const struct probing_rule *rule, unsigned int slot,
			    bool is_answered)
{
	const struct probing_heard heard = {
		.any_ns = arp_of(bond)->slave[slot].frames_ns,
		.times = &bond->dataplane.pins.probes->times[slot],
	};

	return probing_last_ns(rule, arp_role(bond, slot), &heard, is_answered);
}

static bool arp_active_is_answered(struct bond *bond, const struct probing_rule *rule)
{
	unsigned int active = bond_pin(bond)->active_slot;

	return active < XBOND_MAX_SLAVES &&
	       arp_last_ns(bond, rule, active, true) > arp_of(bond)->slave[active].state.since_ns;
}

/* A partner may drop what comes before its port distributes, so silence proves nothing. */
static bool arp_is_held_by_lacp(const struct bond *bond, unsigned int slot)
{
	return !slots_have(bond_lacp_distributing(bond), slot);
}

static bool arp_judge_slave(struct bond *bond, const struct probing_rule *rule, unsigned int slot,
			    bool is_answered, uint64_t now_ns)
{
	struct probing_state *state = &arp_of(bond)->slave[slot].state;
	uint64_t last_ns = arp_last_ns(bond, rule, slot, is_answered);

	if (arp_is_held_by_lacp(bond, slot))
		arp_spare(bond, slot, now_ns);
	switch (probing_step(rule, arp_role(bond, slot), state, last_ns, arp_of(bond)->begun_ns,
			     now_ns)) {
	case PROBING_UP: return verdict_set(bond, slot, XBOND_MONITOR_ARP, true);
	case PROBING_DOWN: return verdict_set(bond, slot, XBOND_MONITOR_ARP, false);
	case PROBING_UNCHANGED: break;
	}
	return false;
}

static void arp_note_active(struct bond *bond, uint64_t now_ns)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (arp_of(bond)->active != active && active < XBOND_MAX_SLAVES)
		arp_spare(bond, active, now_ns);
	arp_of(bond)->active = active;
}

/* The end of an interval. Returns true if a verdict has changed; the caller then evaluates. */
static bool arp_judge(struct bond *bond, uint64_t now_ns)
{
	struct probing_rule rule = arp_rule(bond);
	bool is_answered, changed = false;

	bond_for_each_member (bond, slot) {
		arp_meet(bond, slot, now_ns);
		arp_count_frames(bond, slot, now_ns);
	}
	arp_note_active(bond, now_ns);
	if (!arp_of(bond)->begun_ns)
		return false;
	is_answered = arp_active_is_answered(bond, &rule);
	bond_for_each_member (bond, slot)
		changed |= arp_judge_slave(bond, &rule, slot, is_answered, now_ns);
	return changed;
}

/* Which probes leave by which slaves. */

/* The MAC address of the sender, unless slaves have addresses of their own. */
static const uint8_t *arp_mac(struct bond *bond, const struct arp_path *path)
{
	return mac_is_zero(path->mac) ? bond_pin(bond)->mac : path->mac;
}

/*
 * Neighbours learn the sender's address from a probe, so it has the address that answers to it.
 * With fail_over_mac each slave has an address of its own, and its NIC may hear no other.
 */
static const uint8_t *arp_sender_mac(struct bond *bond, unsigned int slot,
				     const struct arp_path *path)
{
	return bond_pin(bond)->fail_over_mac == XBOND_FAIL_OVER_MAC_NONE
		       ? arp_mac(bond, path)
		       : bond_slave(bond, slot)->mac;
}

static void arp_send_probe(struct bond *bond, unsigned int slot, unsigned int target)
{
	const struct arp_path *path = &arp_of(bond)->paths.path[target];
	struct arp_probe probe = {
		.source = path->source,
		.target = bond->dataplane.pins.probes->target[target].address,
		.mac = arp_sender_mac(bond, slot, path),
		.tags = path->tags.tag,
		.tag_count = path->tags.count,
	};
	uint8_t frame[ARP_FRAME_SIZE];
	size_t size = target < XBOND_MAX_TARGETS ? arp_frame_request(&probe, frame)
						 : arp_frame_solicitation(&probe, frame);

	arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex, frame, size);
}

static void arp_send_by(struct bond *bond, unsigned int slot)
{
	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		if (arp_of(bond)->paths.path[i].leads)
			arp_send_probe(bond, slot, i);
}

static bool arp_may_send(struct bond *bond, unsigned int slot)
{
	return bond_is_member(bond, slot) && verdict_of(bond, slot, XBOND_MONITOR_CARRIER);
}

/* Nobody is active: the next slave has its turn. */
static void arp_send_in_turn(struct bond *bond, uint64_t now_ns)
{
	struct arp_monitor *arp = arp_of(bond);

	for (unsigned int i = 1; i <= XBOND_MAX_SLAVES; i++) {
		unsigned int slot = (arp->candidate + i) % XBOND_MAX_SLAVES;

		if (!arp_may_send(bond, slot))
			continue;
		arp->candidate = slot;
		arp_spare(bond, slot, now_ns);
		arp_send_by(bond, slot);
		return;
	}
}

/* The beginning of an interval: probes the targets. */
static void arp_send(struct bond *bond, uint64_t now_ns)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (!mode_has(bond_pin(bond)->mode, MODE_ALONE)) {
		bond_for_each_member (bond, slot)
			if (arp_may_send(bond, slot))
				arp_send_by(bond, slot);
	} else if (active < XBOND_MAX_SLAVES) {
		arp_send_by(bond, active);
	} else {
		arp_send_in_turn(bond, now_ns);
	}
}

#define ACCURACY_US 1000
static const uint8_t no_address[16];

static uint64_t arp_interval_ns(struct bond *bond)
{
	return bond_pin(bond)->arp_interval_ms * NS_PER_MS;
}

bool arp_has_targets(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return pin->arp_ip_target[0] || memcmp(pin->ns_ip6_target[0], no_address, 16);
}

static void arp_arm(struct daemon *daemon)
{
	uint64_t next_ns = UINT64_MAX;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (arp_is_on(bond) && arp_of(bond)->next_ns < next_ns)
			next_ns = arp_of(bond)->next_ns;
	loop_timer_at(daemon->arp, next_ns);
}

/* The programs may be reading it. A target without an address is none. */
static void arp_publish_target(struct bond *bond, unsigned int i)
{
	struct xbond_probe_target *published = &bond->dataplane.pins.probes->target[i];
	const struct arp_path *path = &arp_of(bond)->paths.path[i];
	struct xbond_probe_target target = { 0 };

	arp_paths_target(bond, i, target.address);
	memcpy(target.source, path->source, sizeof(target.source));
	memcpy(target.mac, arp_mac(bond, path), sizeof(target.mac));
	if (!memcmp(published, &target, sizeof(target)))
		return;
	memset(published->address, 0, sizeof(published->address));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(published->source, target.source, sizeof(target.source));
	memcpy(published->mac, target.mac, sizeof(target.mac));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(published->address, target.address, sizeof(target.address));
}

/* Neither sends nor judges; afterwards every slave has its grace again. */
static void arp_rest(struct bond *bond, uint64_t now_ns)
{
	arp_of(bond)->begun_ns = 0;
	bond_for_each_member (bond, slot)
		arp_spare(bond, slot, now_ns);
}

static void arp_tick(struct bond *bond, uint64_t now_ns)
{
	uint64_t interval_ns = arp_interval_ns(bond);

	arp_of(bond)->next_ns += interval_ns;
	if (arp_of(bond)->next_ns <= now_ns)
		arp_of(bond)->next_ns = now_ns + interval_ns;
	if (!bond_is_ready(bond) || bond->device.is_down || bond_is_meanwhile(bond) ||
	    !arp_of(bond)->paths.are_known) {
		arp_rest(bond, now_ns);
		return;
	}
	if (arp_judge(bond, now_ns))
		bond_evaluate(bond);
	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		arp_publish_target(bond, i);
	arp_send(bond, now_ns);
	arp_of(bond)->begun_ns = now_ns;
}

void arp_work(struct daemon *daemon)
{
	uint64_t now_ns = clock_now_ns();

	arp_paths_take(daemon);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (arp_is_on(bond) && arp_of(bond)->next_ns <= now_ns)
			arp_tick(bond, now_ns);
	arp_sender_flush(daemon->arp_sender);
	arp_paths_ask(daemon, now_ns);
	arp_arm(daemon);
}

static bool arp_can_watch(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (!arp_has_targets(bond)) {
		event_notice(pin->name, NULL, ARP_LACKS_TARGETS);
		return false;
	}
	if (!bond->dataplane.pins.probes)
		event_error(pin->name, NULL,
			    "the ARP monitor does nothing, because the programs of another build "
			    "are in use");
	return bond->dataplane.pins.probes;
}

static void arp_start(struct bond *bond)
{
	uint64_t now_ns = clock_now_ns();

	*arp_of(bond) = (struct arp_monitor){
		.started_ns = now_ns,
		.next_ns = now_ns,
		.active = XBOND_NO_SLOT,
		.candidate = XBOND_MAX_SLAVES - 1,
	};
	arp_arm(bond->daemon);
}

/* If the monitor goes on, the verdicts stay until it has new ones. */
void arp_configure(struct bond *bond)
{
	bool wanted = bond_pin(bond)->arp_interval_ms && arp_can_watch(bond);

	*arp_of(bond) = (struct arp_monitor){ 0 };
	if (wanted)
		arp_start(bond);
	dataplane_set_flags(&bond->dataplane, XBOND_F_PROBES, wanted ? XBOND_F_PROBES : 0);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !wanted; slot++)
		verdict_forget(bond, slot, XBOND_MONITOR_ARP);
}

static void arp_stop(struct bond *bond, bool is_over)
{
	if (is_over && arp_is_on(bond))
		dataplane_set_flags(&bond->dataplane, XBOND_F_PROBES, 0);
	*arp_of(bond) = (struct arp_monitor){ 0 };
}

struct part arp_part = { .bond_size = sizeof(struct arp_monitor), .stop = arp_stop };

static int arp_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	return burst_run(arg, "arp", arp_work);
}

static int arp_on_answers(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	latency_note("arp");
	arp_paths_take(arg);
	arp_arm(arg);
	return 0;
}

int arp_init(struct daemon *daemon, struct err *err)
{
	int r;

	daemon->arp_sender = arp_sender_new(err);
	if (!daemon->arp_sender)
		return -ENOMEM;
	r = asker_new(&arp_paths_kind, &daemon->arp_paths);
	if (!r)
		r = loop_watch(daemon->event, daemon->arp_paths->worker.fd, arp_on_answers, daemon);
	if (!r)
		r = loop_timer(daemon->event, ACCURACY_US, arp_on_time, daemon, &daemon->arp);
	return r ? err_set(err, -r, "cannot start the ARP monitor: %s", strerror(-r)) : 0;
}

void arp_done(struct daemon *daemon)
{
	daemon->arp = sd_event_source_disable_unref(daemon->arp);
	asker_free(daemon->arp_paths);
	daemon->arp_paths = NULL;
	arp_sender_free(daemon->arp_sender);
	daemon->arp_sender = NULL;
}
