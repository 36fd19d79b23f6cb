/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of BFD: packets from bytes and to bytes, the frames that carry them, and the machine of
 * a session. Pure.
 */
#ifndef XBOND_BFD_BFD_H
#define XBOND_BFD_BFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bfd/bfd_wire.h"

/*
 * BFD Control packets (RFC 5880, 4.1), from bytes and to bytes, and the frames that carry them.
 * Pure.
 */

struct bfd_packet {
	uint8_t diag, state;
	bool poll, final, control_plane_independent, demand;
	uint8_t multiplier;
	uint32_t my_discr, your_discr;
	uint32_t min_tx_us, min_rx_us, min_echo_us;
};

/* The checks of 6.8.6 that need no session, in its order. */
enum bfd_refusal {
	BFD_TAKEN = 0,
	BFD_BAD_VERSION,
	BFD_TOO_SHORT, /* its own length, for what it has */
	BFD_TOO_LONG,  /* its own length, for what carries it */
	BFD_BAD_MULTIPLIER,
	BFD_MULTIPOINT,
	BFD_NO_DISCRIMINATOR,
	BFD_NOT_YOURS,	   /* no discriminator of the receiver, though it knows one */
	BFD_AUTHENTICATED, /* nobody has given us a key */
};

/* `length` is what the datagram carries. ret_packet is filled if the result is BFD_TAKEN. */
enum bfd_refusal bfd_packet_decode(const uint8_t *bytes, size_t length,
				   struct bfd_packet *ret_packet);
void bfd_packet_encode(const struct bfd_packet *packet, uint8_t ret_bytes[BFD_PACKET_SIZE]);

const char *bfd_state_name(unsigned int state);
const char *bfd_diag_name(unsigned int diag);

/* Makes the frame that carries a packet, with its checksums. Pure. */

/* To the group of micro-BFD, always: RFC 7130, 2.3 demands that everybody receives that. */
size_t bfd_build_frame(const struct bfd_ends *ends, const uint8_t mac[6], uint16_t source_port,
		       const struct bfd_packet *packet, uint8_t ret_frame[BFD_FRAME_SIZE]);

/*
 * The machine of one BFD session in Asynchronous mode (RFC 5880, 6.8), without echo function, own
 * demand mode and authentication. Pure: the caller gives packets and the time, and sends what comes
 * out. Call bfd_session_run() after every other call, and when bfd_session_deadline() has come,
 * again and again until it has no packet.
 */

#define BFD_NEVER UINT64_MAX
#define BFD_SLOW_US 1000000u /* 6.8.3: at least this while the session is not Up */
/* How long all sessions of a bond may take to come up after the first one. */
#define BFD_GRACE_NS 3000000000ull

enum bfd_verdict { BFD_NO_VERDICT, BFD_WORKS, BFD_FAILS };

/* A session that is Down. discr: not 0, and of no other session; seed: of the jitter. */
void bfd_session_init(struct bfd_session *session, uint32_t discr, uint32_t seed, uint64_t now_ns);
/* New parameters: a Poll Sequence tells the far end (6.8.3). No change does nothing. */
void bfd_session_configure(struct bfd_session *session, uint32_t interval_us, uint8_t multiplier);
/* A packet that told nothing new came then. */
void bfd_session_heard(struct bfd_session *session, uint64_t heard_ns);
/*
 * Nobody ran the session for a while. The detection time begins anew, because the far end may have
 * been silent for the same reason. It may be longer now: detection_us, 0 if nobody knows.
 */
void bfd_session_resume(struct bfd_session *session, uint32_t detection_us, uint64_t now_ns);
/* Leaves Up because somebody else has found that the far end is silent or has left it. */
void bfd_session_lose(struct bfd_session *session, enum bfd_diag diag, uint64_t now_ns);
/* The far end has said AdminDown, to us or to somebody else. No failure: RFC 7130, 4. */
void bfd_session_turned_off(struct bfd_session *session, uint64_t now_ns);
/* 6.8.16 */
void bfd_session_admin_down(struct bfd_session *session, uint64_t now_ns);

/* 6.8.6. Returns false if the packet was discarded because it is for another session. */
bool bfd_session_receive(struct bfd_session *session, const struct bfd_packet *packet,
			 uint64_t now_ns);
/* Returns true if ret_packet is to be sent now. */
bool bfd_session_run(struct bfd_session *session, uint64_t now_ns, struct bfd_packet *ret_packet);
uint64_t bfd_session_deadline(const struct bfd_session *session);
/* What the session would say now, neither as a poll nor as an answer to one. */
void bfd_session_answer(const struct bfd_session *session, struct bfd_packet *ret_packet);

/* 6.8.4; 0: not known yet. */
uint64_t bfd_session_detection_ns(const struct bfd_session *session);
/* 6.8.2, without jitter; 0: nothing is sent periodically. */
uint64_t bfd_session_tx_ns(const struct bfd_session *session);

/*
 * What the session says of its link. known_ns: since when it is known that the far end speaks BFD,
 * on whatever link; 0: it is not.
 */
enum bfd_verdict bfd_session_verdict(const struct bfd_session *session, uint64_t known_ns,
				     uint64_t now_ns);
/* A session that was never up has failed: it stays so until it is up, whatever becomes known. */
void bfd_session_end_grace(struct bfd_session *session);
/* When bfd_session_verdict() may change by time alone. */
uint64_t bfd_session_verdict_due(const struct bfd_session *session, uint64_t known_ns);

#endif
