/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lacp_thread/lacp_thread.h"

#include <bpf/libbpf.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"
#include "lacp/frame.h"
#include "rules/link_state.h"

/* Our markers go behind the data that they follow, and all other PDUs before any data. */
static void lacp_thread_bond_set_priority(int fd, int priority)
{
	setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
}

static void lacp_thread_bond_on_transmit(void *context, unsigned int slot, const uint8_t *frame,
					 size_t length)
{
	struct lacp_thread_bond *bond = context;
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = bond->ifindex[slot],
		.sll_halen = XBOND_MAC_SIZE,
	};
	struct lacp_decoded pdu;
	ssize_t sent;

	lacp_pdu_decode(frame, length, &pdu);
	memcpy(to.sll_addr, frame, XBOND_MAC_SIZE);
	if (pdu.kind == LACP_PDU_MARKER)
		lacp_thread_bond_set_priority(bond->send_fd, TC_PRIO_BESTEFFORT);
	sent = sendto(bond->send_fd, frame, length, 0, (struct sockaddr *)&to, sizeof(to));
	(void)sent; /* a lost PDU is repeated by the Periodic machine */
	if (pdu.kind == LACP_PDU_MARKER)
		lacp_thread_bond_set_priority(bond->send_fd, TC_PRIO_CONTROL);
	if (pdu.kind == LACP_PDU_LACP)
		lacp_thread_hold_sent(&bond->sent[slot], frame, clock_now_ns());
}

static void lacp_thread_bond_change(uint64_t *mask, unsigned int slot, bool on)
{
	if (on)
		__atomic_or_fetch(mask, slots_bit(slot), __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(mask, ~slots_bit(slot), __ATOMIC_RELEASE);
}

/*
 * While XDP chooses, the carrier stays unchanged. The main loop first ends XDP's choice, in its own
 * order (dataplane_set_flags()).
 */
static uint32_t lacp_thread_bond_carrier_flags(const struct lacp_thread_bond *bond)
{
	uint32_t now = __atomic_load_n(&bond->table->flags, __ATOMIC_ACQUIRE);
	uint32_t flags = XBOND_F_CARRIER;

	if (now & XBOND_F_XDP_TX)
		flags &= now;
	else if (!carrier_has_enough(bond->collecting, bond->sys.state.config.min_links))
		return 0; /* a port that only collects counts: it receives */
	return flags && bond->pair == LACP_THREAD_PAIR_AROUND ? flags | XBOND_F_OPENING : flags;
}

static uint64_t lacp_thread_bond_receiving(const struct lacp_thread_bond *bond)
{
	return bond->collecting | bond->lingering;
}

/*
 * Rights end at once here, and also begin at once: the partner may send from the next PDU on, one
 * port may take over from another, and the main loop may be waiting for the kernel. Until the main
 * loop has made buckets for the port, it serves only as a detour.
 */
static void lacp_thread_bond_on_port(void *context, unsigned int slot, bool collecting,
				     bool distributing)
{
	struct lacp_thread_bond *bond = context;

	if (bond->ends) /* the main loop has set other masks for the next mode */
		return;
	lacp_thread_bond_change(&bond->collecting, slot, collecting);
	lacp_thread_bond_change(&bond->distributing, slot, distributing);
	if (collecting)
		__atomic_or_fetch(&bond->table->flags, lacp_thread_bond_carrier_flags(bond),
				  __ATOMIC_RELEASE);
	lacp_thread_bond_change((uint64_t *)&bond->table->rx_mask, slot,
				lacp_thread_bond_receiving(bond) & slots_bit(slot));
	lacp_thread_bond_change((uint64_t *)&bond->table->tx_mask, slot,
				distributing && bond->linked & slots_bit(slot));
	bond->realtime.has_news = true;
}

/* The slots that the programs have taken out of a mask and the thread has not noticed yet. */
static uint64_t lacp_thread_bond_taken_out(const struct lacp_thread_bond *bond, uint32_t of)
{
	uint64_t slots = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (__atomic_load_n(&bond->hold[slot].ended, __ATOMIC_ACQUIRE) !=
			    XBOND_HOLD_GOES_ON ||
		    __atomic_load_n(&bond->hold[slot].withheld, __ATOMIC_ACQUIRE) & of)
			slots |= slots_bit(slot);
	return slots;
}

static void lacp_thread_bond_publish_masks(struct lacp_thread_bond *bond, uint64_t tx, uint64_t rx)
{
	store_release(bond->table->tx_mask,
		      tx & ~lacp_thread_bond_taken_out(bond, LACP_DISTRIBUTING));
	store_release(bond->table->rx_mask,
		      rx & ~lacp_thread_bond_taken_out(bond, LACP_COLLECTING));
	/*
	 * The programs note what they take out before they do so. So everything they did since the
	 * last look is visible now.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_and_fetch(&bond->table->tx_mask,
			   ~lacp_thread_bond_taken_out(bond, LACP_DISTRIBUTING), __ATOMIC_RELEASE);
	__atomic_and_fetch(&bond->table->rx_mask,
			   ~lacp_thread_bond_taken_out(bond, LACP_COLLECTING), __ATOMIC_RELEASE);
}

void lacp_thread_bond_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			      enum lacp_thread_pair pair)
{
	const uint32_t ours = XBOND_F_CARRIER | XBOND_F_OPENING;
	uint32_t flags;

	bond->pair = pair;
	bond->linked = tx;
	flags = lacp_thread_bond_carrier_flags(bond);
	__atomic_or_fetch(&bond->table->flags, flags, __ATOMIC_RELEASE);
	lacp_thread_bond_publish_masks(bond, tx & bond->distributing,
				       members & lacp_thread_bond_receiving(bond));
	__atomic_and_fetch(&bond->table->flags, flags | ~ours, __ATOMIC_RELEASE);
}

static void lacp_thread_bond_on_aggregator(void *context, unsigned int aggregator)
{
	struct lacp_thread_bond *bond = context;

	bond->realtime.has_news = true;
}

static void lacp_thread_bond_on_drained(void *context, unsigned int slot, bool answered)
{
	struct lacp_thread_bond *bond = context;

	lacp_thread_bond_change(&bond->draining, slot, false);
	bond->realtime.has_news = true;
}

static void lacp_thread_bond_on_event(void *context, unsigned int slot, enum lacp_event event,
				      unsigned int detail)
{
	struct lacp_thread_bond *bond = context;
	struct lacp_thread_event news = { .slot = slot, .event = event, .detail = detail };

	bond->realtime.has_news = true;
	memcpy(news.system, bond->sys.port[slot].stranger, LACP_MAC_SIZE);
	if (bond->event_count < LACP_THREAD_EVENTS)
		bond->events[bond->event_count++] = news;
}

static const struct lacp_outputs outputs = {
	.transmit = lacp_thread_bond_on_transmit,
	.port = lacp_thread_bond_on_port,
	.aggregator = lacp_thread_bond_on_aggregator,
	.drained = lacp_thread_bond_on_drained,
	.event = lacp_thread_bond_on_event,
};

static int lacp_thread_bond_on_pdu(void *context, void *data, size_t size)
{
	struct lacp_thread_bond *bond = context;
	const struct xbond_pdu *pdu = data;

	if (size < sizeof(*pdu) || pdu->slot >= XBOND_MAX_SLAVES ||
	    pdu->length > sizeof(pdu->frame) || (int)pdu->ifindex != bond->ifindex[pdu->slot] ||
	    lacp_thread_hold_is_outdated(&bond->hold[pdu->slot], pdu))
		return 0;
	lacp_receive(&bond->sys, pdu->slot, pdu->frame, pdu->length, pdu->received_ns);
	return 0;
}

/* Writes the copy that is not in force, and then puts it in force. */
static void lacp_thread_bond_save(struct lacp_thread_bond *bond)
{
	uint32_t idle = !(bond->pinned->current & 1);

	bond->pinned->copy[idle].system = bond->sys.state;
	memcpy(bond->pinned->copy[idle].port, bond->sys.port, sizeof(bond->sys.port));
	store_release(bond->pinned->current, idle);
}

static bool lacp_thread_bond_is_stale(uint64_t heartbeat_ns)
{
	return xbond_heartbeat_is_older(heartbeat_ns, clock_now_ns(), XBOND_LACP_AWAY_NS);
}

/*
 * Returns true if the programs may have held ports since the last heartbeat. The clock is read
 * after the store, because a thread that is preempted before it stores is late. PDUs in the ring
 * are older than what the programs have noted since, so they are read first. From the heartbeat on,
 * PDUs are ours again.
 */
static bool lacp_thread_bond_beat(struct lacp_thread_bond *bond)
{
	uint64_t *heartbeat_ns = (uint64_t *)&bond->table->lacp_heartbeat_ns;
	bool held = lacp_thread_bond_is_stale(__atomic_load_n(heartbeat_ns, __ATOMIC_ACQUIRE));

	if (held)
		ring_buffer__consume(bond->realtime.ring);
	if (!lacp_thread_bond_is_stale(
		    __atomic_exchange_n(heartbeat_ns, clock_now_ns(), __ATOMIC_SEQ_CST)))
		return false;
	if (!held)
		ring_buffer__consume(bond->realtime.ring);
	return true;
}

static void lacp_thread_bond_end_holds(struct lacp_thread_bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		lacp_thread_hold_end(&bond->hold[slot], &bond->sys, slot);
}

static void lacp_thread_bond_settle_holds(struct lacp_thread_bond *bond)
{
	slots_for_each (bond->sys.used, slot)
		lacp_thread_hold_settle(&bond->hold[slot], &bond->sys, slot, &bond->sent[slot]);
}

uint64_t lacp_thread_run(struct realtime_bond *realtime, uint64_t now_ns)
{
	struct lacp_thread_bond *bond = (struct lacp_thread_bond *)realtime;
	int taken;

	/* It was stopped or got no CPU; the main loop will correct the masks. */
	if (lacp_thread_bond_beat(bond)) {
		lacp_thread_bond_end_holds(bond);
		bond->changed = bond->realtime.has_news = true;
	}
	taken = ring_buffer__consume(bond->realtime.ring);
	if (taken > 0 || bond->deadline_ns <= now_ns || bond->changed) {
		bond->changed = false;
		bond->deadline_ns = lacp_run(&bond->sys, clock_now_ns());
		lacp_thread_bond_settle_holds(bond);
		lacp_thread_bond_save(bond);
	}
	return bond->deadline_ns;
}

const struct realtime_kind lacp_thread_kind = { "lacp", "LACP", lacp_thread_run };

/*
 * A port whose slave left while bondd was away no longer exists. It must not carry traffic, and the
 * next slave there must not inherit it.
 */
static void lacp_thread_bond_adopt(struct lacp_thread_bond *bond, uint64_t members)
{
	const struct xbond_lacp *pinned = bond->pinned;
	const struct lacp_system_state *system = &pinned->copy[pinned->current & 1].system;
	const struct lacp_port_state *port = pinned->copy[pinned->current & 1].port;
	uint64_t used = 0;

	if (!system->version)
		return;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		used |= port[slot].used && members & slots_bit(slot) ? slots_bit(slot) : 0;
	if (lacp_adopt(&bond->sys, system, port, used))
		used = 0;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		bond->ifindex[slot] = used & slots_bit(slot) ? (int)bond->table->ifindex[slot] : 0;
		lacp_thread_hold_adopt(&bond->hold[slot], &bond->sent[slot]);
		if (!(used & slots_bit(slot)))
			lacp_thread_hold_clear(&bond->hold[slot], &bond->sent[slot]);
	}
	bond->collecting = lacp_collecting(&bond->sys);
	bond->distributing = lacp_distributing(&bond->sys);
}

void lacp_thread_bond_start(struct lacp_thread_bond *bond, uint64_t members,
			    const struct lacp_config *config)
{
	lacp_init(&bond->sys, config, &outputs, bond);
	lacp_thread_bond_adopt(bond, members);
	if (!lacp_thread_bond_beat(bond))
		ring_buffer__consume(bond->realtime.ring);
	lacp_thread_bond_end_holds(bond);
	lacp_configure(&bond->sys, config, clock_now_ns());
	bond->deadline_ns = lacp_run(&bond->sys, clock_now_ns());
	lacp_thread_bond_settle_holds(bond);
}

static void lacp_thread_bond_free(struct lacp_thread_bond *bond)
{
	realtime_bond_close(&bond->realtime);
	free(bond);
}

int lacp_thread_bond_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			      const struct lacp_port_config *config)
{
	uint64_t now_ns = clock_now_ns();
	int r;

	bond->ifindex[slot] = ifindex;
	bond->changed = true;
	lacp_thread_hold_begin(&bond->hold[slot]);
	if (!(bond->sys.used & slots_bit(slot)))
		return lacp_port_add(&bond->sys, slot, config, now_ns);
	r = lacp_port_configure(&bond->sys, slot, config, now_ns);
	/* A link that was down only for a moment has still been down. */
	if (!r && config->link != LACP_LINK_UP) {
		bond->deadline_ns = lacp_run(&bond->sys, now_ns);
		lacp_thread_bond_settle_holds(bond);
	}
	return r;
}

static void lacp_thread_bond_remove_port(struct lacp_thread_bond *bond, unsigned int slot)
{
	bond->changed = true;
	lacp_port_remove(&bond->sys, slot, clock_now_ns());
	lacp_thread_bond_change(&bond->collecting, slot, false);
	lacp_thread_bond_change(&bond->distributing, slot, false);
	lacp_thread_bond_change(&bond->draining, slot, false);
	lacp_thread_bond_change(&bond->lingering, slot, false);
	lacp_thread_hold_clear(&bond->hold[slot], &bond->sent[slot]);
	bond->ifindex[slot] = 0;
}

/* Tells the partners; leaves no port held, and no state to take over. */
static void lacp_thread_bond_forget(struct lacp_thread_bond *bond)
{
	bond->ends = true;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		lacp_thread_bond_remove_port(bond, slot);
	memset(bond->pinned, 0, sizeof(*bond->pinned));
}

/* What the main loop calls. */

struct lacp_thread_bond *lacp_thread_add(struct realtime *realtime, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err)
{
	struct lacp_thread_bond *bond = memory_need(calloc(1, sizeof(*bond)));

	bond->send_fd = realtime->send_fd;
	bond->table = pins->table;
	bond->hold = pins->hold;
	bond->pinned = pins->lacp;
	bond->changed = true;
	bond->linked = UINT64_MAX;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		bond->ifindex[slot] = (int)pins->table->ifindex[slot];
	if (realtime_bond_open(&bond->realtime, realtime, pins->dir, XBOND_PIN_PDUS,
			       lacp_thread_bond_on_pdu, err)) {
		lacp_thread_bond_free(bond);
		return NULL;
	}
	realtime_lock(realtime);
	lacp_thread_bond_start(bond, members, config);
	realtime_bond_add(&bond->realtime);
	realtime_unlock_and_wake(realtime);
	return bond;
}

void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget)
{
	struct realtime *realtime = bond->realtime.thread;

	realtime_lock(realtime);
	realtime_bond_remove(&bond->realtime);
	if (forget)
		lacp_thread_bond_forget(bond);
	__atomic_store_n(&bond->table->lacp_heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(realtime);
	lacp_thread_bond_free(bond);
}

void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots)
{
	realtime_lock(bond->realtime.thread);
	bond->lingering = slots;
	realtime_unlock(bond->realtime.thread);
}

void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair)
{
	realtime_lock(bond->realtime.thread);
	lacp_thread_bond_publish(bond, tx, members, pair);
	realtime_unlock(bond->realtime.thread);
}

int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_configure(&bond->sys, config, clock_now_ns());
	bond->changed = true;
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_thread_bond_set_port(bond, slot, ifindex, config);
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot)
{
	realtime_lock(bond->realtime.thread);
	lacp_thread_bond_remove_port(bond, slot);
	realtime_unlock_and_wake(bond->realtime.thread);
}

int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_drain(&bond->sys, slot, clock_now_ns());
	if (!r)
		__atomic_or_fetch(&bond->draining, slots_bit(slot), __ATOMIC_RELEASE);
	bond->changed = true;
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

struct lacp_prospect lacp_thread_prospect(const struct lacp_thread_bond *bond, uint64_t leaving)
{
	struct lacp_prospect prospect;

	realtime_lock(bond->realtime.thread);
	prospect = lacp_prospect(&bond->sys, leaving, clock_now_ns());
	realtime_unlock(bond->realtime.thread);
	return prospect;
}

bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event)
{
	bool taken = false;

	realtime_lock(bond->realtime.thread);
	if (bond->event_count) {
		*ret_event = bond->events[0];
		memmove(bond->events, bond->events + 1,
			--bond->event_count * sizeof(bond->events[0]));
		taken = true;
	}
	realtime_unlock(bond->realtime.thread);
	return taken;
}

uint64_t lacp_thread_collecting(const struct lacp_thread_bond *bond)
{
	return __atomic_load_n(&bond->collecting, __ATOMIC_ACQUIRE);
}

uint64_t lacp_thread_distributing(const struct lacp_thread_bond *bond)
{
	return __atomic_load_n(&bond->distributing, __ATOMIC_ACQUIRE);
}

uint64_t lacp_thread_draining(const struct lacp_thread_bond *bond)
{
	return __atomic_load_n(&bond->draining, __ATOMIC_ACQUIRE);
}
