/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cables between ports: where they are plugged, which are cut, and what gets lost on them. Called
 * by world.c, and by scenarios, histories and the explorer.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

void cable_note_trouble(struct world *world, struct end end)
{
	struct end peer = world_port(world, end)->peer;

	world_port(world, end)->troubled_ns = world->now_ns;
	if (peer.system >= 0)
		world_port(world, peer)->troubled_ns = world->now_ns;
}

static void cable_drop_frames(struct world *world, struct end end)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < world->count; i++) {
		struct end to = world->frame[i].to;

		if (to.system != end.system || to.slot != end.slot)
			world->frame[kept++] = world->frame[i];
	}
	world->count = kept;
}

static void cable_unplug(struct world *world, struct end end)
{
	struct end peer = world_port(world, end)->peer;

	if (peer.system < 0)
		return;
	cable_drop_frames(world, end);
	cable_drop_frames(world, peer);
	world_port(world, end)->peer = WORLD_NOWHERE;
	world_port(world, peer)->peer = WORLD_NOWHERE;
	world_port(world, end)->cut = world_port(world, peer)->cut = false;
	world_update_link(world, end);
	world_update_link(world, peer);
}

void world_cable(struct world *world, struct end a, struct end b, uint64_t delay_ns)
{
	cable_unplug(world, a);
	cable_unplug(world, b);
	world_port(world, a)->peer = b;
	world_port(world, b)->peer = a;
	world_port(world, a)->delay_ns = world_port(world, b)->delay_ns = delay_ns;
	world_update_link(world, a);
	world_update_link(world, b);
}

void world_swap(struct world *world, struct end a, struct end b)
{
	struct end far_a = world_port(world, a)->peer, far_b = world_port(world, b)->peer;

	if (far_a.system < 0 || far_b.system < 0)
		return;
	world_cable(world, a, far_b, MS);
	world_cable(world, b, far_a, MS);
}

static void cable_connect(struct world *world, struct end a, struct end b)
{
	world_port(world, a)->peer = b;
	world_port(world, b)->peer = a;
	cable_note_trouble(world, a);
}

void world_cross(struct world *world, struct end a, struct end b)
{
	struct end far_a = world_port(world, a)->peer, far_b = world_port(world, b)->peer;

	if (far_a.system < 0 || far_b.system < 0 || world_port(world, a)->cut ||
	    world_port(world, b)->cut)
		return;
	cable_connect(world, a, far_b);
	cable_connect(world, b, far_a);
}

void world_cut(struct world *world, struct end end, bool cut)
{
	struct end peer = world_port(world, end)->peer;

	if (peer.system < 0)
		return;
	if (cut) {
		cable_drop_frames(world, end);
		cable_drop_frames(world, peer);
	}
	world_port(world, end)->cut = world_port(world, peer)->cut = cut;
	world_update_link(world, end);
	world_update_link(world, peer);
}

void world_lose(struct world *world, struct end end, unsigned int count)
{
	world_port(world, end)->lose = count;
}

void world_loss(struct world *world, struct end end, unsigned int percent)
{
	world_port(world, end)->loss = percent;
	world_port(world, end)->blind_ns = world->now_ns + SECOND + 100 * MS;
}

/*
 * Of what we tell four times, some words arrive, unless many get lost. A reference tells it once.
 */
void cable_lose_pdu(struct world *world, struct end from)
{
	struct port *port = world_port(world, from);

	port->lose--;
	memmove(port->lost_ns, port->lost_ns + 1, sizeof(port->lost_ns) - sizeof(*port->lost_ns));
	port->lost_ns[2] = world->now_ns;
	if (port->lost_ns[0] + 10 * SECOND > world->now_ns ||
	    world->system[from.system].is_reference)
		cable_note_trouble(world, from);
	port->blind_ns = world->now_ns + SECOND + 100 * MS;
	if (world->verbose)
		printf("  %8.3f %c.%u sends an LACPDU that gets lost\n",
		       (double)(world->now_ns - SECOND) / 1e9, world->system[from.system].name,
		       from.slot + 1);
}
