/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bfd_thread/bfd_thread.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bfd/bfd.h"
#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"
#include "network/packet.h"

#define GOODBYES 3 /* packets that say that the session has been turned off */

#define bfd_thread_for_each_link(bond, slot) slots_for_each ((bond)->used, slot)

static uint16_t bfd_thread_source_port(const struct bfd_session *session)
{
	return (uint16_t)(BFD_FIRST_SOURCE_PORT + session->local_discr % BFD_SOURCE_PORTS);
}

static size_t bfd_thread_frame(const struct bfd_thread_bond *bond, unsigned int slot,
			       const struct bfd_packet *packet, uint8_t ret_frame[BFD_FRAME_SIZE])
{
	const struct bfd_thread_link *link = &bond->link[slot];

	return bfd_build_frame(&bond->config.ends, link->port.mac,
			       bfd_thread_source_port(&link->session), packet, ret_frame);
}

static void bfd_thread_send(struct bfd_thread_bond *bond, unsigned int slot,
			    const struct bfd_packet *packet)
{
	uint8_t frame[BFD_FRAME_SIZE];
	size_t length = bfd_thread_frame(bond, slot, packet, frame);

	packet_send(bond->send_fd, bond->link[slot].port.ifindex, frame, length);
}

static void bfd_thread_set_verdict(struct bfd_thread_bond *bond, unsigned int slot,
				   enum bfd_verdict verdict)
{
	struct bfd_thread_link *link = &bond->link[slot];

	if (link->verdict == verdict)
		return;
	store_release(link->verdict, verdict);
	bond->map->link[slot].verdict = verdict;
	bond->realtime.has_news = true;
}

/* Since when the session could have come up. */
static uint64_t bfd_thread_known_ns(const struct bfd_thread_bond *bond, unsigned int slot)
{
	uint64_t known_ns = bond->map->known_ns, begun_ns = bond->link[slot].begun_ns;

	return known_ns && begun_ns > known_ns ? begun_ns : known_ns;
}

static void bfd_thread_judge(struct bfd_thread_bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct bfd_thread_link *link = &bond->link[slot];
	enum bfd_verdict verdict;

	if (link->session.state == BFD_UP && !bond->map->known_ns)
		bond->map->known_ns = now_ns;
	verdict = bfd_session_verdict(&link->session, bfd_thread_known_ns(bond, slot), now_ns);
	if (verdict == BFD_FAILS && link->session.excuse == BFD_EXCUSE_NEVER_UP) {
		bfd_session_end_grace(&link->session);
		link->changed = true;
	}
	bfd_thread_set_verdict(bond, slot, verdict);
}

/*
 * The far end's last word was that it has turned BFD off, or there is no session: what was known of
 * it says nothing of sessions that begin now. Goes by the map, which also has the sessions that
 * this bondd has not continued yet.
 */
static void bfd_thread_forget_known(struct bfd_thread_bond *bond)
{
	bool has_sessions = false, turned_off = false;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		const struct xbond_bfd_link *pinned = &bond->map->link[slot];
		const struct bfd_session *session = &pinned->words[pinned->in_force & 1].session;

		if (!pinned->enabled)
			continue;
		if (session->state == BFD_UP)
			return;
		has_sessions = true;
		turned_off |= session->excuse == BFD_EXCUSE_ADMIN;
	}
	if (turned_off || !has_sessions)
		bond->map->known_ns = 0;
}

static void bfd_thread_words_of(const struct bfd_thread_bond *bond, unsigned int slot,
				struct xbond_bfd_words *ret_words)
{
	const struct bfd_session *session = &bond->link[slot].session;
	struct bfd_packet packet;

	memset(ret_words, 0, sizeof(*ret_words));
	bfd_session_answer(session, &packet);
	ret_words->session = *session;
	ret_words->gap_ns = bfd_session_tx_ns(session);
	ret_words->detection_ns = bfd_session_detection_ns(session);
	ret_words->holding = session->state == BFD_UP && ret_words->gap_ns;
	ret_words->length = (uint32_t)bfd_thread_frame(bond, slot, &packet, ret_words->frame);
}

/* Puts the session in force for the programs, and keeps it for the next bondd, all at once. */
static void bfd_thread_pin(struct bfd_thread_bond *bond, unsigned int slot)
{
	struct xbond_bfd_link *pinned = &bond->map->link[slot];
	uint32_t idle = !(pinned->in_force & 1);

	bfd_thread_words_of(bond, slot, &pinned->words[idle]);
	store_release(pinned->in_force, idle);
}

static void bfd_thread_run_link(struct bfd_thread_bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct bfd_thread_link *link = &bond->link[slot];
	uint8_t state = link->session.state;
	struct bfd_packet packet;

	bfd_session_heard(&link->session,
			  __atomic_load_n(&bond->map->link[slot].heard_ns, __ATOMIC_ACQUIRE));
	while (bfd_session_run(&link->session, now_ns, &packet)) {
		bfd_thread_send(bond, slot, &packet);
		store_release(bond->map->link[slot].sent_ns, now_ns);
		link->changed = true;
	}
	bfd_thread_judge(bond, slot, now_ns);
	if (link->changed || link->session.state != state)
		bfd_thread_pin(bond, slot);
	link->changed = false;
}

/*
 * Until the programs notice that the thread has stopped, they leave packets to it. A packet is too
 * old if they have heard a later one of its session.
 */
static bool bfd_thread_is_history(const struct bfd_thread_bond *bond, unsigned int slot,
				  uint64_t received_ns)
{
	return received_ns < bond->link[slot].resumed_ns &&
	       received_ns < __atomic_load_n(&bond->map->link[slot].heard_ns, __ATOMIC_ACQUIRE);
}

static int bfd_thread_on_packet(void *context, void *data, size_t size)
{
	struct bfd_thread_bond *bond = context;
	const struct xbond_bfd_packet *record = data;
	struct bfd_thread_link *link;
	struct bfd_packet packet;

	if (size < sizeof(*record) || !slots_have(bond->used, record->slot))
		return 0;
	link = &bond->link[record->slot];
	if ((int)record->ifindex != link->port.ifindex ||
	    bfd_thread_is_history(bond, record->slot, record->received_ns) ||
	    bfd_packet_decode(record->bytes, record->length, &packet))
		return 0;
	if (bfd_session_receive(&link->session, &packet, record->received_ns))
		link->changed = true;
	return 0;
}

/* What the programs have found while nobody ran the session. */
static void bfd_thread_resume(struct bfd_thread_bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct xbond_bfd_link *pinned = &bond->map->link[slot];
	struct bfd_session *session = &bond->link[slot].session;
	uint32_t ended = __atomic_exchange_n(&pinned->ended, XBOND_BFD_GOES_ON, __ATOMIC_ACQ_REL);

	switch (ended) {
	case XBOND_BFD_SILENT: bfd_session_lose(session, BFD_DIAG_TIME_EXPIRED, now_ns); break;
	case XBOND_BFD_SIGNALED: bfd_session_lose(session, BFD_DIAG_NEIGHBOR_DOWN, now_ns); break;
	case XBOND_BFD_TURNED_OFF: bfd_session_turned_off(session, now_ns); break;
	default:
		bfd_session_resume(
			session, __atomic_load_n(&pinned->detection_us, __ATOMIC_ACQUIRE), now_ns);
	}
	bond->link[slot].resumed_ns = now_ns;
	bond->link[slot].changed = true;
}

/*
 * Returns true if the programs may have held sessions since the last heartbeat. The clock is read
 * after the store, because a thread that is preempted before it stores is late.
 */
static bool bfd_thread_beat(struct bfd_thread_bond *bond)
{
	uint64_t *heartbeat_ns = (uint64_t *)&bond->map->heartbeat_ns;
	uint64_t before_ns = __atomic_exchange_n(heartbeat_ns, clock_now_ns(), __ATOMIC_SEQ_CST);

	return xbond_heartbeat_is_older(before_ns, clock_now_ns(), XBOND_BFD_AWAY_NS);
}

uint64_t bfd_thread_bond_run(struct bfd_thread_bond *bond, uint64_t now_ns)
{
	uint64_t next_ns = BFD_NEVER;

	if (bfd_thread_beat(bond))
		bfd_thread_for_each_link(bond, slot) bfd_thread_resume(bond, slot, now_ns);
	ring_buffer__consume(bond->realtime.ring);
	bfd_thread_for_each_link(bond, slot)
	{
		const struct bfd_session *session = &bond->link[slot].session;
		uint64_t deadline_ns, due_ns;

		bfd_thread_run_link(bond, slot, now_ns);
		deadline_ns = bfd_session_deadline(session);
		due_ns = bfd_session_verdict_due(session, bfd_thread_known_ns(bond, slot));
		if (due_ns > now_ns && due_ns < deadline_ns)
			deadline_ns = due_ns;
		if (deadline_ns < next_ns)
			next_ns = deadline_ns;
	}
	bfd_thread_forget_known(bond);
	return next_ns;
}

/* Told by some packets, because one may be lost; RFC 7130, 4: the far end then goes on alone. */
static void bfd_thread_say_goodbye(struct bfd_thread_bond *bond, unsigned int slot)
{
	struct bfd_session *session = &bond->link[slot].session;
	struct bfd_packet packet;

	bfd_session_admin_down(session, clock_now_ns());
	bfd_session_answer(session, &packet);
	for (int i = 0; i < GOODBYES; i++)
		bfd_thread_send(bond, slot, &packet);
}

static void bfd_thread_end_link(struct bfd_thread_bond *bond, unsigned int slot)
{
	if (slots_have(bond->used, slot))
		bfd_thread_say_goodbye(bond, slot);
	bond->used &= ~slots_bit(slot);
	store_release(bond->map->link[slot].enabled, 0);
	memset(&bond->map->link[slot], 0, sizeof(bond->map->link[slot]));
	bfd_thread_set_verdict(bond, slot, BFD_NO_VERDICT);
	bond->link[slot] = (struct bfd_thread_link){ 0 };
}

static uint32_t bfd_thread_random(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = (uint32_t)clock_now_ns();
	return number ? number : 1;
}

/* The session goes on if an earlier bondd has left one here. */
static void bfd_thread_begin_link(struct bfd_thread_bond *bond, unsigned int slot)
{
	const struct xbond_bfd_link *pinned = &bond->map->link[slot];
	const struct bfd_session *left = &pinned->words[pinned->in_force & 1].session;
	struct bfd_thread_link *link = &bond->link[slot];
	uint64_t now_ns = clock_now_ns();

	if (pinned->enabled && left->local_discr && left->state <= BFD_UP) {
		link->session = *left;
		bond->used |= slots_bit(slot);
		bfd_thread_resume(bond, slot, now_ns);
	} else {
		bfd_session_init(&link->session, bfd_thread_random(), bfd_thread_random(), now_ns);
	}
	link->begun_ns = link->session.since_ns;
	bfd_session_configure(&link->session, bond->config.interval_us,
			      (uint8_t)bond->config.multiplier);
	bond->used |= slots_bit(slot);
	bfd_thread_judge(bond, slot, now_ns);
	bfd_thread_pin(bond, slot);
	store_release(bond->map->link[slot].enabled, 1);
}

void bfd_thread_bond_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			      const struct bfd_thread_port *port)
{
	struct bfd_thread_link *link = &bond->link[slot];
	bool moved = link->port.ifindex && link->port.ifindex != port->ifindex;

	if (!port->ifindex || moved)
		bfd_thread_end_link(bond, slot);
	if (!port->ifindex)
		return;
	link->port = *port;
	link->changed = true;
	if (!slots_have(bond->used, slot))
		bfd_thread_begin_link(bond, slot);
}

/* The sessions of other ends end; bfd_thread_bond_set_port() begins the new ones. */
static void bfd_thread_set_ends(struct bfd_thread_bond *bond, const struct bfd_ends *ends)
{
	if (!memcmp(&bond->map->ends, ends, sizeof(*ends)))
		return;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		bfd_thread_end_link(bond, slot);
	bond->map->known_ns = 0;
	bond->map->ends = *ends;
}

void bfd_thread_bond_configure(struct bfd_thread_bond *bond, const struct bfd_thread_config *config)
{
	struct bfd_thread_port ports[XBOND_MAX_SLAVES];
	uint64_t used = bond->used;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		ports[slot] = bond->link[slot].port;
	bfd_thread_set_ends(bond, &config->ends);
	bond->config = *config;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		struct bfd_thread_link *link = &bond->link[slot];

		if (slots_have(used, slot))
			bfd_thread_bond_set_port(bond, slot, &ports[slot]);
		if (slots_have(bond->used, slot))
			bfd_session_configure(&link->session, config->interval_us,
					      (uint8_t)config->multiplier);
	}
}

static void bfd_thread_bond_free(struct bfd_thread_bond *bond)
{
	realtime_bond_close(&bond->realtime);
	free(bond);
}

/* Ends all sessions. */
NEEDS(realtime_held) static void bfd_thread_bond_forget(struct bfd_thread_bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		bfd_thread_end_link(bond, slot);
	bond->map->known_ns = 0;
	memset(&bond->map->ends, 0, sizeof(bond->map->ends));
}

/* The thread, and how the main loop speaks to it. */

NEEDS(realtime_held)
static uint64_t bfd_thread_run(struct realtime_bond *bond, uint64_t now_ns)
{
	return bfd_thread_bond_run((struct bfd_thread_bond *)bond, now_ns);
}

const struct realtime_kind bfd_thread_kind = { "bfd", "BFD", bfd_thread_run };

struct bfd_thread_bond *bfd_thread_add(struct realtime *realtime, const struct pins *pins,
				       const struct bfd_thread_config *config, struct err *err)
{
	struct bfd_thread_bond *bond = memory_need(calloc(1, sizeof(*bond)));

	bond->send_fd = realtime->send_fd;
	bond->map = pins->bfd;
	bond->config = *config;
	if (realtime_bond_open(&bond->realtime, realtime, pins->dir, XBOND_PIN_BFD_PACKETS,
			       bfd_thread_on_packet, err)) {
		bfd_thread_bond_free(bond);
		return NULL;
	}
	bfd_thread_set_ends(bond, &config->ends);
	realtime_lock(realtime);
	realtime_bond_add(&bond->realtime);
	realtime_unlock_and_wake(realtime);
	return bond;
}

void bfd_thread_remove(struct bfd_thread_bond *bond, bool forget)
{
	struct realtime *realtime = bond->realtime.thread;

	realtime_lock(realtime);
	realtime_bond_remove(&bond->realtime);
	if (forget)
		bfd_thread_bond_forget(bond);
	__atomic_store_n(&bond->map->heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(realtime);
	bfd_thread_bond_free(bond);
	realtime_tell(realtime);
}

void bfd_thread_configure(struct bfd_thread_bond *bond, const struct bfd_thread_config *config)
{
	realtime_lock(bond->realtime.thread);
	bfd_thread_bond_configure(bond, config);
	realtime_unlock_and_wake(bond->realtime.thread);
}

void bfd_thread_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			 const struct bfd_thread_port *port)
{
	realtime_lock(bond->realtime.thread);
	bfd_thread_bond_set_port(bond, slot, port);
	realtime_unlock_and_wake(bond->realtime.thread);
}

void bfd_thread_session(const struct bfd_thread_bond *bond, unsigned int slot,
			struct bfd_session *ret_session)
{
	realtime_lock(bond->realtime.thread);
	*ret_session = bond->link[slot].session;
	realtime_unlock(bond->realtime.thread);
}

enum bfd_verdict bfd_thread_verdict(const struct bfd_thread_bond *bond, unsigned int slot)
{
	return __atomic_load_n(&bond->link[slot].verdict, __ATOMIC_ACQUIRE);
}
