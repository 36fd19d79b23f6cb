/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of what was seen while the traffic was watched, of faults that let most frames pass, or
 * that show in single frames. Each compares a slave with the others, or with what cannot come from
 * this host: loss alone is no fault of a link.
 */
#include <arpa/inet.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/mode.h"

#define LOSS_AGAIN 10	 /* fewer segments prove nothing */
#define LOSS_ONE_OF 50	 /* 2 % */
#define LOSS_OTHERS 200	 /* segments of other slaves to compare with */
#define LOSS_TIMES 5	 /* as much as that of the others */
#define LOSS_ANSWERS 5	 /* fewer conversations prove nothing */
#define LOSS_ANSWERED 20 /* of other slaves, to compare with */
#define SLOW_FEW 5	 /* conversations */
#define MTU_FEW 3
#define TWIN_FEW 3

static void losses_add(struct talk_segments *sum, const struct talk_segments *more)
{
	sum->all += more->all;
	sum->again += more->again;
}

/* again: in vain. Clearly more often than over the others? */
static bool losses_stand_out(struct talk_segments own, struct talk_segments others,
			     uint32_t least_again, uint32_t least_others)
{
	return own.again >= least_again && (uint64_t)own.again * LOSS_ONE_OF >= own.all &&
	       others.all >= least_others &&
	       (uint64_t)others.again * LOSS_TIMES * own.all <= (uint64_t)own.again * others.all;
}

/* A full link drops, too. */
static bool losses_is_busy(const struct doctor_facts *facts, const struct doctor_slave *slave,
			   uint64_t bytes)
{
	uint64_t most = (uint64_t)slave->pin->speed_mbps * 1000000 / 8 * facts->watched_s;

	return most && bytes > most / 2;
}

static bool losses_check_tcp(const struct doctor_facts *facts, const struct doctor_slave *slave,
			     struct talk_segments own, struct talk_segments others,
			     const char *words, struct doctor_report *report)
{
	if (!losses_stand_out(own, others, LOSS_AGAIN, LOSS_OTHERS))
		return false;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "%u of about %u TCP segments that %s in %u s were retransmissions; over other "
		     "slaves %u of %u",
		     own.again, own.all, words, facts->watched_s, others.again, others.all);
	return true;
}

/* What was lost is not sent again: echoes, ARP, and services that answer others. */
static bool losses_check_answers(const struct doctor_facts *facts, const struct doctor_slave *slave,
				 const struct talk_sums *others, struct doctor_report *report)
{
	const struct talk_sums *talk = &slave->seen.talk;
	struct talk_segments own = { talk->asked, talk->proven },
			     theirs = { others->asked, others->unanswered };

	if (!losses_stand_out(own, theirs, LOSS_ANSWERS, LOSS_ANSWERED))
		return false;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "%u of %u conversations over it in %u s were not answered; over other slaves "
		     "%u of %u",
		     own.again, own.all, facts->watched_s, theirs.again, theirs.all);
	return true;
}

static struct talk_sums losses_of_others(const struct doctor_bond *bond,
					 const struct doctor_slave *but)
{
	struct talk_sums sums = { 0 };

	doctor_for_each_slave (slave, bond) {
		if (slave == but)
			continue;
		losses_add(&sums.sent, &slave->seen.talk.sent);
		losses_add(&sums.got, &slave->seen.talk.got);
		sums.asked += slave->seen.talk.asked;
		sums.unanswered += slave->seen.talk.unanswered;
	}
	return sums;
}

/* All that is long is lost, and all that is short is not. */
static bool losses_are_long(const struct talk_sums *talk)
{
	return talk->long_lost >= MTU_FEW && !talk->short_lost && talk->answered >= MTU_FEW &&
	       talk->shortest_lost > talk->longest_answered;
}

static struct talk_sums losses_of_all(const struct doctor_bond *bond)
{
	struct talk_sums sums = { 0 };

	doctor_for_each_slave (slave, bond) {
		const struct talk_sums *talk = &slave->seen.talk;

		sums.long_lost += talk->long_lost;
		sums.short_lost += talk->short_lost;
		sums.answered += talk->answered;
		if (talk->longest_answered > sums.longest_answered)
			sums.longest_answered = talk->longest_answered;
		if (talk->shortest_lost &&
		    (!sums.shortest_lost || talk->shortest_lost < sums.shortest_lost))
			sums.shortest_lost = talk->shortest_lost;
	}
	return sums;
}

/* What this slave has lost was too long for the far end: doctor_check_far_mtu(). */
static bool losses_are_of_mtu(const struct doctor_bond *bond, const struct talk_sums *talk)
{
	struct talk_sums all = losses_of_all(bond);

	return losses_are_long(talk) || (talk->long_lost && losses_are_long(&all));
}

/* One that loses all it sends is no link that loses a part: doctor_check_unanswered(). */
static bool losses_check_slave(const struct doctor_facts *facts, const struct doctor_bond *bond,
			       const struct doctor_slave *slave, struct doctor_report *report)
{
	const struct talk_sums others = losses_of_others(bond, slave);
	const struct doctor_seen *seen = &slave->seen;

	if (seen->talk.unanswered && !seen->talk.answered)
		return false;
	return (!losses_is_busy(facts, slave, seen->sent_bytes) &&
		losses_check_tcp(facts, slave, seen->talk.sent, others.sent, "it sent", report)) ||
	       (!losses_is_busy(facts, slave, seen->received_bytes) &&
		losses_check_tcp(facts, slave, seen->talk.got, others.got, "it received",
				 report)) ||
	       (!losses_are_of_mtu(bond, &seen->talk) &&
		losses_check_answers(facts, slave, &others, report));
}

void doctor_check_loss(const struct doctor_facts *facts, const struct doctor_bond *bond,
		       struct doctor_report *report)
{
	if (!doctor_talks_are_known(bond))
		return;
	doctor_for_each_slave (slave, bond)
		if (losses_check_slave(facts, bond, slave, report))
			doctor_advise(report,
				      "something loses a part of the frames of this link, or they "
				      "come twice: compare the errors at both ends ('ethtool -S'), "
				      "then change cable or transceiver; a full link behind it "
				      "loses frames, too");
}

/* Three of four: a late answer may have come by another slave, or been late at the peer. */
static bool losses_check_times(const struct doctor_facts *facts, const struct doctor_slave *slave,
			       enum talk_way_of_time way, struct doctor_report *report)
{
	const struct talk_times *times = &slave->seen.talk.times[way];

	if (times->late < SLOW_FEW || (uint64_t)times->late * 4 < (uint64_t)times->all * 3)
		return false;
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "%u of %u conversations in %u s waited %.1f ms for answers %s; over other "
		     "slaves %.1f ms",
		     times->late, times->all, facts->watched_s,
		     (double)times->late_ns / times->late / 1e6,
		     way == TALK_SENT ? "to what it sent" : "that it received",
		     (double)times->quick_ns / times->late / 1e6);
	doctor_advise(report, "something on this link is slow, or its queue is full: compare the "
			      "speed at both ends, and look for traffic shaping");
	return true;
}

/* What is lost makes others wait: doctor_check_loss(). */
static bool losses_are_found(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	struct doctor_report unused;
	bool are_found = false;

	doctor_report_init(&unused);
	doctor_for_each_slave (slave, bond)
		are_found |= losses_check_slave(facts, bond, slave, &unused);
	doctor_report_done(&unused);
	return are_found;
}

/* Answers are late by the slave that has sent the question, or else by the one they came by. */
void doctor_check_slow(const struct doctor_facts *facts, const struct doctor_bond *bond,
		       struct doctor_report *report)
{
	bool has_found = !doctor_talks_are_known(bond) || losses_are_found(facts, bond);

	for (int way = 0; way < TALK_WAYS && !has_found; way++)
		doctor_for_each_slave (slave, bond)
			has_found |=
				!losses_is_busy(facts, slave,
						way == TALK_SENT ? slave->seen.sent_bytes
								 : slave->seen.received_bytes) &&
				losses_check_times(facts, slave, way, report);
}

static void losses_tell_mtu(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    const char *slave, const struct talk_sums *talk,
			    struct doctor_report *report)
{
	doctor_found(report, DOCTOR_WARNING, slave,
		     "all %u frames of %u bytes or more were lost in %u s, and none of up to %u "
		     "bytes",
		     talk->long_lost, talk->shortest_lost, facts->watched_s,
		     talk->longest_answered);
	doctor_advise(report,
		      "the far end, or a switch on the way, may have a smaller MTU than %s: see "
		      "there; 'ping -M do -s SIZE' finds the limit",
		      bond->name);
}

/* A link is named if another one has delivered what is as long. */
void doctor_check_far_mtu(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	struct talk_sums all = losses_of_all(bond);

	if (!doctor_talks_are_known(bond))
		return;
	if (losses_are_long(&all)) {
		losses_tell_mtu(facts, bond, NULL, &all, report);
		return;
	}
	doctor_for_each_slave (slave, bond)
		if (losses_are_long(&slave->seen.talk))
			losses_tell_mtu(facts, bond, slave->pin->name, &slave->seen.talk, report);
}

static bool losses_is_own(const struct doctor_facts *facts, const uint8_t ip[4])
{
	for (size_t i = 0; i < facts->address_count; i++)
		if (facts->address[i].family == AF_INET && !memcmp(facts->address[i].bytes, ip, 4))
			return true;
	return false;
}

void doctor_check_far_mac(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	if (!doctor_talks_are_known(bond) || !bond->device.link)
		return;
	doctor_for_each_slave (slave, bond) {
		const struct talk_sums *talk = &slave->seen.talk;
		char ip[INET_ADDRSTRLEN] = "";

		if (memcmp(talk->twin_ip, "\0\0\0", 4) != 0 && !losses_is_own(facts, talk->twin_ip))
			inet_ntop(AF_INET, talk->twin_ip, ip, sizeof(ip));
		if (!ip[0] && talk->from_self < TWIN_FEW)
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "another host has the MAC address of %s, too%s%s: its frames came in "
			     "by this slave",
			     bond->name, ip[0] ? ", with the IP address " : "", ip);
		doctor_advise(report, "give one of them another address; cloned machines and "
				      "copied configurations have the same");
	}
}

/* A switch sends nothing back into a channel. What it floods reaches the slaves of other modes. */
void doctor_check_channel(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	unsigned int mode = bond->pins.bond->mode;

	(void)facts;
	if (!doctor_talks_are_known(bond) || mode_has(mode, MODE_ACTIVE) || doctor_is_lacp(bond))
		return;
	doctor_for_each_slave (slave, bond) {
		if (!slave->seen.talk.comes_back)
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "an ARP request of %s came back by it: the switch does not take the "
			     "slaves for one channel, as mode %s needs it",
			     bond->name, mode_name(mode));
		doctor_advise(report, "make the ports one static channel there, or use mode "
				      "active-backup, which needs none");
	}
}

/* In active-backup it may be meant: some switches let a port carry traffic until it is answered. */
void doctor_check_lacp_unused(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	bool is_single = bond->pins.bond->mode == XBOND_MODE_ACTIVE_BACKUP;

	if (!doctor_talks_are_known(bond) || doctor_is_lacp(bond))
		return;
	doctor_for_each_slave (slave, bond) {
		if (!slave->seen.talk.lacpdus)
			continue;
		doctor_found(report, is_single ? DOCTOR_NOTE : DOCTOR_WARNING, slave->pin->name,
			     "the far end speaks LACP, and this bond, in mode %s, does not",
			     mode_name(bond->pins.bond->mode));
		doctor_advise(report,
			      "make it one of mode 802.3ad, or a group without LACP there: a "
			      "switch may not use ports on which nobody answers");
	}
}
