/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of a bond's conversations are answered. Fed with packets by doctor_watch.c, in any order;
 * doctor_traffic.c judges the sums. Knows neither sockets nor devices.
 *
 * A question is what must be answered: a TCP segment with data, SYN or FIN; the first packet of a
 * UDP flow; an ICMP echo; an ARP request. Whatever slave the answer comes by, it is one. TCP counts
 * as unanswered only if the segment was sent again: where the answers come another way (asymmetric
 * routes), nothing is sent again. Other questions have one second.
 */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_TALK_H
#define XBOND_CLI_DOCTOR_DOCTOR_TALK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "cli/base/captured.h"

#define TALK_ARP 0xff /* as a protocol; IP reserves it */

/* All bytes count. From the bond's side, for both directions. */
struct talk_key {
	uint8_t local[16], remote[16];
	uint16_t local_port, remote_port;
	uint32_t number; /* of an echo; 0 for others */
	uint8_t protocol, pad[3];
};
_Static_assert(sizeof(struct talk_key) == 44, "no holes");

/* What a packet is in a conversation. */
struct talk_part {
	struct talk_key key;
	bool asks, answers, resets;
	uint32_t seq, ack, data; /* TCP; data: so many bytes */
	bool has_ack;
};

/* doctor_packet.c; false: it is in none. */
bool talk_read(const struct tap_packet *packet, bool is_sent, struct talk_part *ret_part);

/*
 * doctor_packet.c: the kernel's filter of a packet socket. ARP, LACP, and of IP each flow in both
 * directions or nothing of it: one of so many, chosen by addresses and ports. IPv4 fragments
 * without ports are left out. A tag is in the frame if the NIC does not insert it.
 */
#define TALK_FILTER 85
#define TALK_SNAPLEN 192
void talk_filter(uint32_t one_of, struct sock_filter ret_code[TALK_FILTER]);

/* TCP segments in one direction, and those of them that were sent before. */
struct talk_segments {
	uint32_t all, again;
};

/* TCP data in one direction. */
struct talk_way {
	bool has_begun;
	uint32_t end; /* of what was sent so far */
	struct talk_segments segments;
};

/* For answers, one at a time. What is sent again meanwhile is not counted. */
struct talk_wait {
	uint64_t since_ns; /* 0: for none */
	uint32_t seq;	   /* TCP: of the question */
	uint32_t answers;
	uint64_t sum_ns;
};

struct talk_flow {
	struct talk_key key;
	bool used, is_asked, is_answered, has_ack;
	uint32_t asked_seq, best_ack; /* TCP: of the first question; of what was received */
	uint32_t times;		      /* how often the first question was sent */
	uint64_t asked_ns;	      /* the first question */
	uint32_t asked_length;	      /* of its frame */
	struct talk_wait wait;
	uint64_t slots, heard_by; /* the slaves that have sent questions, or received anything */
	struct talk_way sent, got;
	/* TCP: the longest segment, how often it was sent, and the shortest of its frames. */
	uint32_t long_seq, long_data, long_times, long_length;
};

struct talk_frame {
	uint64_t mark; /* 0: unused */
	bool is_taken; /* some slave that receives has got it */
	uint8_t slot;  /* another one that has got it, and how often */
	uint32_t alone;
};

static inline bool talk_is_later(uint32_t seq, uint32_t than)
{
	return (int32_t)(seq - than) > 0;
}

static inline bool talk_is_tcp(const struct talk_flow *flow)
{
	return flow->key.protocol == IPPROTO_TCP;
}

/* A host that asks by ARP as if it had the bond's MAC address. */
struct talk_twin {
	uint8_t ip[4]; /* 0: none */
	unsigned int slot;
};

#define TALK_TWINS 8
#define TALK_FLOWS (1 << 13) /* powers of two */
#define TALK_FRAMES (1 << 14)

struct talk {
	struct talk_flow *flows;
	struct talk_frame *frames;
	uint8_t mac[XBOND_MAC_SIZE]; /* the bond's */
	uint32_t frame_max;	     /* the longest frame that goes out unsegmented */
	uint64_t seed;
	struct talk_twin twin[TALK_TWINS];
	uint32_t from_self[XBOND_MAX_SLAVES], lacpdus[XBOND_MAX_SLAVES];
};

/* Of conversations that one slave has sent, or received: how long an answer took on average. */
enum talk_way_of_time { TALK_SENT, TALK_RECEIVED, TALK_WAYS };

struct talk_times {
	uint32_t all, late;	    /* late: clearly later than most over other slaves */
	uint64_t late_ns, quick_ns; /* the sum of those, and of what others took meanwhile */
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
	struct talk_segments sent, got;
	struct talk_times times[TALK_WAYS];
	/*
	 * Bytes of frames: the longest that was answered, the shortest that was not although the
	 * same service answers others; how many of the latter were long, and how many short.
	 */
	uint32_t longest_answered, shortest_lost, long_lost, short_lost;
	uint32_t from_self; /* frames with the bond's MAC address as sender and as receiver */
	uint8_t twin_ip[4]; /* who asks by ARP from the bond's MAC address; 0: nobody */
	bool comes_back;    /* an ARP request that the bond has sent */
	uint32_t lacpdus;
};

void talk_init(struct talk *talk, const uint8_t mac[XBOND_MAC_SIZE], uint32_t mtu);
void talk_done(struct talk *talk);

void talk_take_sent(struct talk *talk, unsigned int slot, const struct tap_packet *packet);
/* receives: the slave is one of those by which the bond receives. */
void talk_take_received(struct talk *talk, unsigned int slot, bool receives,
			const struct tap_packet *packet);
/* until_ns: nothing after this has been taken. */
void talk_sum(const struct talk *talk, uint64_t until_ns,
	      struct talk_sums ret_sums[XBOND_MAX_SLAVES]);

#endif
