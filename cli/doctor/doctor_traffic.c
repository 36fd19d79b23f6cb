/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of what was seen while the traffic was watched. A quiet link, a one-way sender, answers
 * that come by another slave or another way, and frames that a switch floods are no faults, so each
 * check says what speaks against them.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/mode.h"
#include "common/pins.h"

#define TRAFFIC_FEW 3	   /* fewer conversations prove nothing */
#define TRAFFIC_FRAMES 10  /* fewer frames, likewise */
#define TRAFFIC_LITTLE 100 /* one frame in more than so many counts as none */
#define TRAFFIC_PASS 20	   /* of a program that takes nearly all: fewer than one in so many */
#define TRAFFIC_ALONE_MIN 5

static void traffic_add(struct talk_sums *sums, const struct talk_sums *more)
{
	sums->asked += more->asked;
	sums->answered += more->answered;
	sums->unanswered += more->unanswered;
	sums->expected += more->expected;
	sums->owed += more->owed;
	sums->heard += more->heard;
	sums->peers += more->peers;
	sums->hears += more->hears;
}

/* Of all slaves but one, which may be NULL. */
static struct talk_sums traffic_of_others(const struct doctor_bond *bond,
					  const struct doctor_slave *but)
{
	struct talk_sums sums = { 0 };

	doctor_for_each_slave (slave, bond)
		if (slave != but)
			traffic_add(&sums, &slave->seen.talk);
	return sums;
}

static uint64_t traffic_arrived(const struct doctor_slave *slave)
{
	return slave->seen.received + slave->seen.dropped;
}

/*
 * A stray frame may arrive, such as one that was on its way. So few count as nothing beside each of
 * the others that receive, and beside what the slave itself sends.
 */
static bool traffic_hears_nothing(const struct doctor_bond *bond, const struct doctor_slave *one)
{
	uint64_t little = traffic_arrived(one) * TRAFFIC_LITTLE, others = 0, least = 0;

	doctor_for_each_slave (slave, bond) {
		uint64_t arrived = slave == one ? 0 : traffic_arrived(slave);

		others += arrived;
		if (arrived >= TRAFFIC_FRAMES && (!least || arrived < least))
			least = arrived;
	}
	if (!one->seen.sent || others < TRAFFIC_FRAMES)
		return false;
	return !little || (little < least && little < one->seen.sent);
}

static void traffic_advise_far_end(const struct doctor_bond *bond, const struct doctor_slave *slave,
				   struct doctor_report *report)
{
	doctor_advise(report,
		      "look at the far end of this link: its port must be in the same group, with "
		      "a mode that fits, and no filter or XDP program there may drop the frames; "
		      "until then 'bondctl set-slave %s %s drain on' moves the traffic away",
		      bond->name, slave->pin->name);
}

/*
 * None of what it sends is answered, but others are, by the same services, or, with less certainty,
 * by others.
 */
static bool traffic_check_sending(const struct doctor_facts *facts, const struct doctor_bond *bond,
				  const struct doctor_slave *slave, struct doctor_report *report)
{
	const struct talk_sums *talk = &slave->seen.talk, others = traffic_of_others(bond, slave);
	bool is_sure = talk->proven >= TRAFFIC_FEW;

	if (talk->answered || others.answered < TRAFFIC_FEW ||
	    (!is_sure && (talk->peers < TRAFFIC_FEW || others.owed > others.answered)))
		return false;
	doctor_found(report, is_sure ? DOCTOR_BAD : DOCTOR_WARNING, slave->pin->name,
		     "none of %u conversations over it in %u s was answered; over other slaves %u "
		     "of %u were%s",
		     talk->asked, facts->watched_s, others.answered, others.asked,
		     is_sure ? ", by the same peers" : "");
	traffic_advise_far_end(bond, slave, report);
	return true;
}

/* It hears next to nothing, and answers that should come do not come to what other slaves send. */
static void traffic_check_hearing(const struct doctor_facts *facts, const struct doctor_bond *bond,
				  const struct doctor_slave *slave, struct doctor_report *report)
{
	struct talk_sums all = traffic_of_others(bond, NULL);
	uint64_t arrived = traffic_arrived(slave);
	char what[64] = "nothing";

	if (all.expected < TRAFFIC_FEW || !traffic_hears_nothing(bond, slave))
		return;
	if (arrived)
		snprintf(what, sizeof(what), "next to nothing (%" PRIu64 " frame%s)", arrived,
			 arrived == 1 ? "" : "s");
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "it received %s in %u s, and %u of %u conversations over the bond were not "
		     "answered although the peers answer others: what the far end sends by this "
		     "link may be lost",
		     what, facts->watched_s, all.expected, all.asked);
	doctor_advise(report, "see whether the far end sends by this link, and whether it is a "
			      "one-way link: its transmitter, the fibre, this receiver");
}

/* Over the only path, or over all of them. */
static void traffic_check_all(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	const struct talk_sums all = traffic_of_others(bond, NULL);
	const struct doctor_slave *only = NULL;
	unsigned int senders = 0;

	if (all.answered || all.owed < TRAFFIC_FEW || (all.hears && all.heard < TRAFFIC_FEW))
		return;
	doctor_for_each_slave (slave, bond)
		if (slave->seen.talk.owed) {
			senders++;
			only = slave;
		}
	doctor_found(report, DOCTOR_WARNING, senders == 1 ? only->pin->name : NULL,
		     "none of %u conversations in %u s was answered, %s", all.asked,
		     facts->watched_s,
		     all.heard >= TRAFFIC_FEW ? "although packets of these peers arrive"
					      : "and no packet of these peers arrived");
	doctor_advise(report,
		      "see whether the far end gets these packets: its ports, its mode, filters "
		      "and VLANs there; %s",
		      all.heard >= TRAFFIC_FEW ? "the other direction works"
					       : "whether these peers are there at all, and "
						 "'ip neigh' has their MAC addresses");
}

bool doctor_talks_are_known(const struct doctor_bond *bond)
{
	doctor_for_each_slave (slave, bond)
		if (!slave->seen.talks_are_known)
			return false;
	return bond->slave_count;
}

void doctor_check_unanswered(const struct doctor_facts *facts, const struct doctor_bond *bond,
			     struct doctor_report *report)
{
	bool has_found = false;

	if (!doctor_talks_are_known(bond))
		return;
	doctor_for_each_slave (slave, bond)
		has_found |= slave->seen.talk.unanswered &&
			     traffic_check_sending(facts, bond, slave, report);
	if (!has_found)
		doctor_for_each_slave (slave, bond)
			traffic_check_hearing(facts, bond, slave, report);
	if (!has_found)
		traffic_check_all(facts, bond, report);
}

/* Frames that a switch floods arrive by slaves that receive, too. These did not: they are lost. */
void doctor_check_refused(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	if (!doctor_talks_are_known(bond) || !bond->pins.bond->carrier)
		return;
	doctor_for_each_slave (slave, bond) {
		if (slave->seen.talk.alone < TRAFFIC_ALONE_MIN || !slave->seen.dropped)
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "%u frames for the bond arrived by this slave alone in %u s, and were "
			     "dropped: %s",
			     slave->seen.talk.alone, facts->watched_s,
			     slave->why[0] ? slave->why : "it does not receive");
		doctor_advise(report,
			      doctor_is_lacp(bond)
				      ? "the far end sends by a link that LACP has not agreed on: "
					"is it a group without LACP there?"
				      : "the far end sends by several links at once: give both "
					"ends the same mode, or take the ports out of the group "
					"there (mode %s wants separate ports)",
			      mode_name(bond->pins.bond->mode));
	}
}

static const char *traffic_name_program(uint32_t id, char ret_name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info;

	strcpy(ret_name, "?");
	if (pin_program_read(id, &info) && info.name[0])
		memcpy(ret_name, info.name, BPF_OBJ_NAME_LEN);
	return ret_name;
}

/*
 * A filter or a balancer of the user is none of our business, unless it takes nearly everything:
 * ARP may pass.
 */
void doctor_check_other_xdp(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		const struct link_info *link = slave->device.link;
		const struct doctor_seen *seen = &slave->seen;
		bool takes_all = seen->is_known && seen->at_device >= TRAFFIC_FRAMES &&
				 (seen->received + seen->dropped) * TRAFFIC_PASS < seen->at_device;
		uint32_t id = link && slave->pin->rx_hook != XBOND_RX_XDP ? link->xdp_id : 0;
		char name[BPF_OBJ_NAME_LEN], counts[96] = "";

		if (link && !id)
			id = link->xdp_generic_id;
		if (!id)
			continue;
		if (seen->is_known)
			snprintf(counts, sizeof(counts),
				 ": of %llu frames in %u s %llu reached the bond",
				 (unsigned long long)seen->at_device, facts->watched_s,
				 (unsigned long long)(seen->received + seen->dropped));
		doctor_found(report, takes_all ? DOCTOR_WARNING : DOCTOR_NOTE, slave->pin->name,
			     "another XDP program, %s (id %u), gets its frames before xbond%s",
			     traffic_name_program(id, name), id, counts);
		doctor_advise(report,
			      "the bond does not receive what it drops or redirects; 'ip link set "
			      "%s xdp off' removes it",
			      slave->pin->name);
	}
}

static unsigned int traffic_queues_served(const struct xdp_sockets *sockets,
					  const struct doctor_slave *slave)
{
	unsigned int served = 0;

	for (unsigned int queue = 0; queue < slave->queues; queue++)
		for (size_t i = 0; i < sockets->count; i++)
			if (sockets->socket[i].ifindex == slave->pin->ifindex &&
			    sockets->socket[i].queue == queue) {
				served++;
				break;
			}
	return served;
}

static void traffic_tell_missed(const struct doctor_slave *slave, unsigned int watched_s,
				struct doctor_report *report)
{
	if (!slave->seen.missed)
		return;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "%" PRIu64 " frames for AF_XDP sockets were lost in %u s, because their "
		     "queues were full",
		     slave->seen.missed, watched_s);
	doctor_advise(report, "the program is too slow; larger rings help against bursts only");
}

/* Sockets that only send need one queue. */
static void traffic_tell_queues(const struct doctor_slave *slave, const struct xdp_sockets *sockets,
				struct doctor_report *report)
{
	unsigned int served = traffic_queues_served(sockets, slave);

	if (!served || served >= slave->queues || !slave->seen.by_afxdp)
		return;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "a program receives by AF_XDP on %u of %u queues only; what comes by the "
		     "others goes to the bond",
		     served, slave->queues);
	doctor_advise(report,
		      "let the program open all queues, or take the others away; 'ethtool -l %s' "
		      "shows them, and 'ethtool -L' changes them",
		      slave->pin->name);
}

static void traffic_tell_copies(const struct doctor_slave *slave, const struct xdp_sockets *sockets,
				struct doctor_report *report)
{
	bool copies = false;

	for (size_t i = 0; i < sockets->count; i++)
		copies |= sockets->socket[i].ifindex == slave->pin->ifindex &&
			  !sockets->socket[i].zero_copy;
	if (!copies || !slave->device.xdp_is_known || !(slave->device.xdp & XDP_FEATURE_ZEROCOPY))
		return;
	doctor_found(report, DOCTOR_NOTE, slave->pin->name,
		     "frames for AF_XDP sockets are copied, and its driver could do without");
	doctor_advise(report, "let the program ask for zero copy (with libxbond-xsk: options.bind "
			      "= XDP_ZEROCOPY), unless it is there to be the same on all NICs");
}

void doctor_check_afxdp(const struct doctor_facts *facts, const struct doctor_bond *bond,
			struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		traffic_tell_missed(slave, facts->watched_s, report);
		traffic_tell_queues(slave, &facts->sockets, report);
		traffic_tell_copies(slave, &facts->sockets, report);
	}
}
