/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bfd/bfd.h"

#define NS_PER_US 1000ull

static uint32_t bfd_session_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* xorshift; only to spread packets in time. */
static uint32_t bfd_session_random(struct bfd_session *session)
{
	session->random ^= session->random << 13;
	session->random ^= session->random >> 17;
	session->random ^= session->random << 5;
	return session->random;
}

uint64_t bfd_session_tx_ns(const struct bfd_session *session)
{
	bool quiet =
		!session->remote_min_rx_us || (session->remote_demand && session->state == BFD_UP &&
					       session->remote_state == BFD_UP && !session->polls);

	return quiet ? 0
		     : bfd_session_max(session->tx_in_force_us, session->remote_min_rx_us) *
			       NS_PER_US;
}

uint64_t bfd_session_detection_ns(const struct bfd_session *session)
{
	return session->remote_multiplier * NS_PER_US *
	       bfd_session_max(session->rx_in_force_us, session->remote_min_tx_us);
}

/* 6.8.7: 75 to 100 % of the interval; with a multiplier of 1, to 90 %. */
static uint64_t bfd_session_jittered(struct bfd_session *session, uint64_t interval_ns)
{
	uint32_t range = session->multiplier == 1 ? 150 : 250;

	return interval_ns / 1000 * (750 + bfd_session_random(session) % (range + 1));
}

/*
 * The interval may have become shorter, and then the far end must not wait for the longer one
 * (6.8.3). Between packets a longer one begins with the next.
 */
static void bfd_session_hasten(struct bfd_session *session)
{
	uint64_t interval_ns = bfd_session_tx_ns(session);

	if (interval_ns && (!session->due_ns || session->due_ns > session->sent_ns + interval_ns))
		session->due_ns = session->sent_ns + bfd_session_jittered(session, interval_ns);
}

static void bfd_session_begin_poll(struct bfd_session *session)
{
	if (session->polls)
		session->polls_again = 1;
	session->polls = 1;
	session->hurries = 1;
}

/* 6.8.3: what makes the far end wait for more must not happen before it knows. */
static void bfd_session_set_intervals(struct bfd_session *session, uint32_t tx_us, uint32_t rx_us)
{
	bool up = session->state == BFD_UP;

	if (tx_us == session->desired_tx_us && rx_us == session->required_rx_us)
		return;
	session->desired_tx_us = tx_us;
	session->required_rx_us = rx_us;
	if (!up || tx_us < session->tx_in_force_us)
		session->tx_in_force_us = tx_us;
	if (!up || rx_us > session->rx_in_force_us)
		session->rx_in_force_us = rx_us;
	bfd_session_begin_poll(session);
	bfd_session_hasten(session);
}

static void bfd_session_settle_intervals(struct bfd_session *session)
{
	uint32_t tx_us = session->interval_us;

	if (session->state != BFD_UP)
		tx_us = bfd_session_max(tx_us, BFD_SLOW_US);
	bfd_session_set_intervals(session, tx_us, session->interval_us);
}

static void bfd_session_set_state(struct bfd_session *session, enum bfd_state state,
				  enum bfd_diag diag, uint64_t now_ns)
{
	if (session->state == BFD_UP)
		session->lost++;
	session->state = (uint8_t)state;
	session->diag = (uint8_t)diag;
	session->since_ns = now_ns;
	session->hurries = 1;
	if (state == BFD_UP)
		session->excuse = BFD_EXCUSE_NONE;
	bfd_session_settle_intervals(session);
}

void bfd_session_init(struct bfd_session *session, uint32_t discr, uint32_t seed, uint64_t now_ns)
{
	*session = (struct bfd_session){
		.local_discr = discr,
		.state = BFD_DOWN,
		.remote_state = BFD_DOWN,
		.excuse = BFD_EXCUSE_NEVER_UP,
		.multiplier = 3,
		.interval_us = BFD_SLOW_US,
		.desired_tx_us = BFD_SLOW_US,
		.required_rx_us = BFD_SLOW_US,
		.tx_in_force_us = BFD_SLOW_US,
		.rx_in_force_us = BFD_SLOW_US,
		.remote_min_rx_us = 1, /* 6.8.1 */
		.random = seed ? seed : 1,
		.hurries = 1,
		.since_ns = now_ns,
		.due_ns = now_ns,
	};
}

void bfd_session_configure(struct bfd_session *session, uint32_t interval_us, uint8_t multiplier)
{
	bool first = !session->sent_ns && !session->heard_ns;

	if (session->multiplier != multiplier && !first)
		session->hurries = 1;
	session->multiplier = multiplier;
	session->interval_us = interval_us;
	bfd_session_settle_intervals(session);
	if (first) /* nobody knows of other values */
		session->polls = session->polls_again = 0;
}

void bfd_session_heard(struct bfd_session *session, uint64_t heard_ns)
{
	if (heard_ns > session->heard_ns)
		session->heard_ns = heard_ns;
}

void bfd_session_resume(struct bfd_session *session, uint32_t detection_us, uint64_t now_ns)
{
	uint32_t multiplier = session->remote_multiplier ? session->remote_multiplier : 1;

	session->remote_min_tx_us =
		bfd_session_max(session->remote_min_tx_us, detection_us / multiplier);
	bfd_session_heard(session, now_ns);
	session->hurries = 1;
}

void bfd_session_lose(struct bfd_session *session, enum bfd_diag diag, uint64_t now_ns)
{
	if (session->state == BFD_UP || session->state == BFD_INIT)
		bfd_session_set_state(session, BFD_DOWN, diag, now_ns);
}

void bfd_session_admin_down(struct bfd_session *session, uint64_t now_ns)
{
	bfd_session_set_state(session, BFD_ADMIN_DOWN, BFD_DIAG_ADMIN_DOWN, now_ns);
}

void bfd_session_turned_off(struct bfd_session *session, uint64_t now_ns)
{
	session->excuse = BFD_EXCUSE_ADMIN;
	if (session->state != BFD_DOWN)
		bfd_session_set_state(session, BFD_DOWN, BFD_DIAG_NEIGHBOR_DOWN, now_ns);
}

static void bfd_session_end_poll(struct bfd_session *session)
{
	if (session->polls_again) { /* the answer may be to the parameters before these */
		session->polls_again = 0;
		session->hurries = 1;
		return;
	}
	session->polls = 0;
	session->tx_in_force_us = session->desired_tx_us;
	session->rx_in_force_us = session->required_rx_us;
}

static void bfd_session_record(struct bfd_session *session, const struct bfd_packet *packet)
{
	if (session->remote_discr != packet->my_discr)
		session->hurries = 1;
	session->remote_discr = packet->my_discr;
	session->remote_state = packet->state;
	session->remote_diag = packet->diag;
	session->remote_demand = packet->demand;
	session->remote_min_rx_us = packet->min_rx_us;
	session->remote_min_tx_us = packet->min_tx_us;
	session->remote_multiplier = packet->multiplier;
	if (packet->final && session->polls)
		bfd_session_end_poll(session);
	bfd_session_hasten(session);
}

/* The table of 6.8.6, and the figure of 6.2. */
static void bfd_session_step(struct bfd_session *session, enum bfd_state heard, uint64_t now_ns)
{
	enum bfd_state state = session->state;

	if (heard == BFD_ADMIN_DOWN) {
		bfd_session_turned_off(session, now_ns);
	} else if (state == BFD_DOWN && heard == BFD_DOWN) {
		bfd_session_set_state(session, BFD_INIT, session->diag, now_ns);
	} else if ((state == BFD_DOWN && heard == BFD_INIT) ||
		   (state == BFD_INIT && (heard == BFD_INIT || heard == BFD_UP))) {
		bfd_session_set_state(session, BFD_UP, BFD_DIAG_NONE, now_ns);
	} else if (state == BFD_UP && heard == BFD_DOWN) {
		bfd_session_set_state(session, BFD_DOWN, BFD_DIAG_NEIGHBOR_DOWN, now_ns);
	}
}

/*
 * A session that is up ends only by its far end, or by its silence. One that has begun anew does
 * not know our discriminator, but nor does anybody else who can send frames to this address. It
 * waits for the detection time.
 */
static bool bfd_session_is_of(const struct bfd_session *session, const struct bfd_packet *packet)
{
	if (packet->your_discr)
		return packet->your_discr == session->local_discr;
	return session->state != BFD_UP || packet->my_discr == session->remote_discr;
}

bool bfd_session_receive(struct bfd_session *session, const struct bfd_packet *packet,
			 uint64_t now_ns)
{
	if (!bfd_session_is_of(session, packet))
		return false;
	bfd_session_record(session, packet);
	if (session->state == BFD_ADMIN_DOWN)
		return true;
	bfd_session_step(session, packet->state, now_ns);
	if (packet->poll)
		session->owes_final = 1;
	bfd_session_heard(session, now_ns);
	return true;
}

static uint64_t bfd_session_expiry(const struct bfd_session *session)
{
	uint64_t detection_ns = bfd_session_detection_ns(session);

	return session->remote_discr && detection_ns ? session->heard_ns + detection_ns : BFD_NEVER;
}

/* 6.8.4, and 6.8.1 of bfd.RemoteDiscr. */
static void bfd_session_expire(struct bfd_session *session, uint64_t now_ns)
{
	if (now_ns < bfd_session_expiry(session))
		return;
	session->remote_discr = 0;
	session->remote_demand = 0;
	session->owes_final = 0;
	session->remote_min_rx_us = 1; /* as at the beginning: it must hear of us */
	if (session->state == BFD_UP || session->state == BFD_INIT)
		bfd_session_set_state(session, BFD_DOWN, BFD_DIAG_TIME_EXPIRED, now_ns);
	bfd_session_hasten(session);
}

void bfd_session_end_grace(struct bfd_session *session)
{
	if (session->excuse == BFD_EXCUSE_NEVER_UP)
		session->excuse = BFD_EXCUSE_NONE;
}

static void bfd_session_fill(const struct bfd_session *session, bool final,
			     struct bfd_packet *ret_packet)
{
	*ret_packet = (struct bfd_packet){
		.diag = session->diag,
		.state = session->state,
		.poll = session->polls && !final,
		.final = final,
		.control_plane_independent = true,
		.multiplier = session->multiplier,
		.my_discr = session->local_discr,
		.your_discr = session->remote_discr,
		.min_tx_us = session->desired_tx_us,
		.min_rx_us = session->required_rx_us,
	};
}

void bfd_session_answer(const struct bfd_session *session, struct bfd_packet *ret_packet)
{
	bfd_session_fill(session, false, ret_packet);
	ret_packet->poll = false;
}

bool bfd_session_run(struct bfd_session *session, uint64_t now_ns, struct bfd_packet *ret_packet)
{
	uint64_t interval_ns;

	bfd_session_expire(session, now_ns);
	if (session->owes_final) {
		session->owes_final = 0;
		bfd_session_fill(session, true, ret_packet);
		return true;
	}
	interval_ns = bfd_session_tx_ns(session);
	if (!interval_ns && !session->hurries)
		return false;
	if (now_ns < session->due_ns && !session->hurries)
		return false;
	if (session->state == BFD_ADMIN_DOWN && !session->hurries)
		return false;
	session->hurries = 0;
	session->sent_ns = now_ns;
	session->due_ns = interval_ns ? now_ns + bfd_session_jittered(session, interval_ns) : 0;
	bfd_session_fill(session, false, ret_packet);
	return true;
}

uint64_t bfd_session_deadline(const struct bfd_session *session)
{
	uint64_t expiry_ns = bfd_session_expiry(session);

	if (session->owes_final || session->hurries)
		return 0;
	if (!bfd_session_tx_ns(session) || session->state == BFD_ADMIN_DOWN)
		return expiry_ns;
	return session->due_ns < expiry_ns ? session->due_ns : expiry_ns;
}

enum bfd_verdict bfd_session_verdict(const struct bfd_session *session, uint64_t known_ns,
				     uint64_t now_ns)
{
	if (session->state == BFD_UP)
		return BFD_WORKS;
	if (session->excuse == BFD_EXCUSE_NONE)
		return BFD_FAILS;
	return now_ns >= bfd_session_verdict_due(session, known_ns) ? BFD_FAILS : BFD_NO_VERDICT;
}

uint64_t bfd_session_verdict_due(const struct bfd_session *session, uint64_t known_ns)
{
	if (session->excuse != BFD_EXCUSE_NEVER_UP || !known_ns || session->state == BFD_UP)
		return BFD_NEVER;
	return known_ns + BFD_GRACE_NS;
}
