/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of a bond's conversations are answered. Fed with packets by doctor_watch.c, in any order;
 * doctor_traffic.c judges the sums. Knows neither sockets nor devices.
 *
 * A question is what must be answered: a TCP segment with data, SYN or FIN; the first packet of a
 * UDP flow; an ICMP echo; an ARP request. Whatever slave the answer comes by, it is one. TCP counts
 * as unanswered only if the segment was sent again: where the answers come another way (asymmetric
 * routes), nothing is sent again. Other questions have TALK_PATIENCE_NS.
 */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_TALK_H
#define XBOND_CLI_DOCTOR_DOCTOR_TALK_H

#include "bpf/abi.h"
#include "cli/base/tap.h"

#define TALK_PATIENCE_NS UINT64_C(1000000000)
#define TALK_SNAPLEN 192

struct talk_flow;
struct talk_frame;

struct talk {
	struct talk_flow *flows;
	struct talk_frame *frames;
	uint8_t mac[XBOND_MAC_SIZE]; /* the bond's */
	uint64_t seed;
};

/*
 * What a slave has carried. Conversations that several slaves have carried are nobody's. UDP to a
 * service that has answered nobody is none.
 */
struct talk_sums {
	uint32_t asked, answered, unanswered;
	/* Of the unanswered: the same peer and service has answered over another slave. */
	uint32_t proven;
	/* The same over any slave: it is there, and its answer may have been lost. */
	uint32_t expected;
	/* Of the unanswered, without UDP, which many send to who never answers: */
	uint32_t owed;
	uint32_t heard; /* the peer was heard, whatever it said */
	uint32_t peers; /* how many different ones */
	uint32_t hears; /* conversations of which it has received something */
	/* Frames for the bond's address that came by this slave, and by none that receives. */
	uint32_t alone;
};

void talk_init(struct talk *talk, const uint8_t mac[XBOND_MAC_SIZE]);
void talk_done(struct talk *talk);

void talk_take_sent(struct talk *talk, unsigned int slot, const struct tap_packet *packet);
/* receives: the slave is one of those by which the bond receives. */
void talk_take_received(struct talk *talk, unsigned int slot, bool receives,
			const struct tap_packet *packet);
/* until_ns: nothing after this has been taken. */
void talk_sum(const struct talk *talk, uint64_t until_ns,
	      struct talk_sums ret_sums[XBOND_MAX_SLAVES]);

#endif
