/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States are compared with times relative to now and counters left out. What lies further back than
 * OLD counts as OLD: states that differ only there are taken for one, so a history may be missed,
 * but none is judged wrongly.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "lacp/frame.h"
#include "tests/sim/explore.h"

#define OLD (7 * SECOND)
#define FUTURE (UINT64_C(1) << 63)
#define REFERENCE_TIMES                                                                     \
	((sizeof(struct reference_port) - offsetof(struct reference_port, current_while)) / \
	 sizeof(uint64_t))

/* The world as octets, and back. */

struct image {
	uint8_t *at, *end;
	bool back;
};

static void image_take(struct image *image, void *data, size_t size)
{
	if ((size_t)(image->end - image->at) < size)
		abort();
	if (image->back)
		memcpy(data, image->at, size);
	else
		memcpy(image->at, data, size);
	image->at += size;
}

static void image_lacp(struct image *image, struct lacp_system *lacp)
{
	image_take(image, &lacp->state, sizeof(lacp->state));
	image_take(image, lacp->port, LINKS * sizeof(*lacp->port));
	image_take(image, &lacp->used, sizeof(*lacp) - offsetof(struct lacp_system, used));
}

static void image_system(struct image *image, struct system *system)
{
	image_take(image, system, offsetof(struct system, lacp));
	image_lacp(image, &system->lacp);
	image_lacp(image, &system->saved);
	image_take(image, system->port, LINKS * sizeof(*system->port));
	image_take(image, &system->waiting, sizeof(system->waiting));
	image_take(image, system->ring, system->waiting * sizeof(*system->ring));
	image_take(image, &system->deadline_ns, sizeof(system->deadline_ns));
}

void image_world(struct world *world, uint8_t octets[IMAGE_SIZE], bool back)
{
	struct image image = { octets, octets + IMAGE_SIZE, back };

	image_take(&image, &world->now_ns, sizeof(world->now_ns));
	image_take(&image, &world->count, sizeof(world->count));
	image_take(&image, world->frame, world->count * sizeof(*world->frame));
	image_take(&image, &world->steady[0][1], sizeof(world->steady[0][1]));
	image_take(&image, &world->gap_ns[0][1], sizeof(world->gap_ns[0][1]));
	for (int i = 0; world->system[i].exists; i++)
		image_system(&image, &world->system[i]);
}

/* What makes two states the same. */

static uint64_t state_time(const struct world *world, uint64_t time_ns)
{
	uint64_t age = world->now_ns - time_ns;

	if (!time_ns || time_ns == LACP_NEVER)
		return time_ns;
	if (time_ns > world->now_ns)
		return FUTURE + time_ns - world->now_ns;
	return 1 + (age < OLD ? age : OLD);
}

static void state_times(const struct world *world, uint64_t *time_ns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		time_ns[i] = state_time(world, time_ns[i]);
}

/* What is compared of a state, and its hash. */
struct gist {
	size_t size;
	uint8_t octets[IMAGE_SIZE + 32];
};

static void gist_add(struct gist *gist, const void *data, size_t size)
{
	if (gist->size + size > IMAGE_SIZE)
		abort();
	memcpy(gist->octets + gist->size, data, size);
	gist->size += size;
}

static uint64_t gist_key(struct gist *gist)
{
	const uint64_t odd = UINT64_C(0x9fb21c651e98df25);
	uint64_t lane[4] = { 1, 2, 3, 4 }, word[4];

	memset(gist->octets + gist->size, 0, sizeof(word));
	for (size_t at = 0; at < gist->size; at += sizeof(word)) {
		memcpy(word, gist->octets + at, sizeof(word));
		for (int i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ word[i]) * odd;
			lane[i] ^= lane[i] >> 32;
		}
	}
	for (int i = 1; i < 4; i++)
		lane[0] = (lane[0] ^ lane[i]) * odd ^ lane[0] >> 32;
	return lane[0] ? lane[0] : 1;
}

static void state_machines(const struct world *world, struct gist *gist,
			   const struct lacp_system *lacp)
{
	const size_t first = offsetof(struct lacp_port_state, heard_ns);
	const size_t end = offsetof(struct lacp_port_state, counters);
	struct lacp_system_state state = lacp->state;

	state.transaction = 0; /* compared by how far away from it others are */
	state.yield_ns = state_time(world, state.yield_ns);
	gist_add(gist, &state, sizeof(state));
	for (unsigned int slot = 0; slot < LINKS; slot++) {
		struct lacp_port_state port = lacp->port[slot];

		port.transaction = port.marker ? lacp->state.transaction - port.transaction : 0;
		if (world->now_ns - port.response_window_ns >= SECOND)
			port.responses = port.response_window_ns = 0;
		state_times(world, &port.heard_ns, (end - first) / sizeof(uint64_t));
		gist_add(gist, &port, end);
	}
}

static void state_hold(const struct world *world, struct gist *gist, const struct xbond_hold *from)
{
	struct xbond_hold hold = *from;
	struct xbond_hold_words *words = &hold.words[hold.in_force & 1];

	words->heard_ns = state_time(world, words->heard_ns);
	words->sent_ns = state_time(world, words->sent_ns);
	gist_add(gist, words, sizeof(*words));
	hold.heard_ns = state_time(world, hold.heard_ns);
	hold.answered_ns = state_time(world, hold.answered_ns);
	hold.missed_ns = state_time(world, hold.missed_ns);
	hold.answers = 0;
	for (unsigned int class = 0; class < XBOND_PDU_CLASSES; class ++) {
		struct xbond_pdu_budget *budget = &hold.budget[class];

		if (world->now_ns - budget->window_ns >= SECOND)
			memset(budget, 0, sizeof(*budget));
		budget->window_ns = state_time(world, budget->window_ns);
		budget->flooded = 0;
	}
	gist_add(gist, &hold.heard_ns, sizeof(hold) - offsetof(struct xbond_hold, heard_ns));
}

static void state_port(const struct world *world, struct gist *gist, const struct port *from)
{
	struct port port = *from;

	state_hold(world, gist, &port.hold);
	memset(&port.hold, 0, sizeof(port.hold));
	port.blind_ns = state_time(world, port.blind_ns);
	state_times(world, port.sent_ns, LACP_TX_LIMIT);
	port.sent.sent_ns = state_time(world, port.sent.sent_ns);
	port.timer_ns = state_time(world, port.timer_ns);
	port.said_ns = state_time(world, port.said_ns);
	state_times(world, port.lost_ns, sizeof(port.lost_ns) / sizeof(*port.lost_ns));
	port.troubled_ns = state_time(world, port.troubled_ns);
	port.void_ns = state_time(world, port.void_ns);
	port.half_ns = state_time(world, port.half_ns);
	port.drain_ns = state_time(world, port.drain_ns);
	port.drained = port.far_ok = false;
	state_times(world, &port.reference.current_while, REFERENCE_TIMES);
	gist_add(gist, &port, offsetof(struct port, hold));
	gist_add(gist, &port.sent, sizeof(port) - offsetof(struct port, sent));
}

static const struct lacp_system *machines_of(const struct system *system)
{
	return system->away ? &system->saved : &system->lacp;
}

static void state_system(const struct world *world, struct gist *gist, const struct system *system)
{
	const uint64_t more[] = { system->stopped,
				  system->individual,
				  system->away,
				  system->waiting,
				  state_time(world, system->away ? system->away_ns : 0),
				  state_time(world, system->deadline_ns) };

	gist_add(gist, more, sizeof(more));
	state_machines(world, gist, machines_of(system));
	for (unsigned int slot = 0; slot < LINKS; slot++)
		state_port(world, gist, &system->port[slot]);
	for (unsigned int i = 0; i < system->waiting; i++) {
		struct xbond_pdu pdu = system->ring[i];

		pdu.received_ns = state_time(world, pdu.received_ns);
		gist_add(gist, &pdu, sizeof(pdu));
	}
}

/* A marker and its response have the transaction of who has sent the marker. */
static void state_marker(const struct world *world, struct frame *frame)
{
	uint8_t *tlv = frame->octets + 14 + LACP_AT_MARKER;
	struct end asked = frame->to;
	const struct system *system = &world->system[asked.system];
	uint32_t transaction;

	if (frame->octets[14] != LACP_SUBTYPE_MARKER)
		return;
	if (tlv[0] == LACP_TLV_MARKER)
		asked = world->system[asked.system].port[asked.slot].peer;
	memcpy(&transaction, tlv + 10, sizeof(transaction));
	if (asked.system >= 0)
		system = &world->system[asked.system];
	transaction = machines_of(system)->state.transaction - be32toh(transaction);
	memcpy(tlv + 10, &transaction, sizeof(transaction));
}

uint64_t state_key(const struct world *world)
{
	static struct gist gist;
	const uint64_t traffic[] = { world->steady[0][1], state_time(world, world->gap_ns[0][1]) };

	gist.size = 0;
	gist_add(&gist, traffic, sizeof(traffic));
	for (unsigned int i = 0; i < world->count; i++) {
		struct frame frame = world->frame[i];

		frame.due_ns = state_time(world, frame.due_ns);
		state_marker(world, &frame);
		gist_add(&gist, &frame, sizeof(frame));
	}
	for (int i = 0; world->system[i].exists; i++)
		state_system(world, &gist, &world->system[i]);
	return gist_key(&gist);
}
