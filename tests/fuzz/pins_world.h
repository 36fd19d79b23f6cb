/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of a bond with any content, as a disk error, another program or another version
 * may leave them: a sound bond with a list of patches, and what pins_open() checks of it. Included
 * by the targets that let somebody read them.
 */
#ifndef XBOND_TESTS_FUZZ_PINS_WORLD_H
#define XBOND_TESTS_FUZZ_PINS_WORLD_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/pins.h"
#include "common/readings.h"
#include "rules/buckets.h"
#include "tests/fuzz/input.h"

#define MEMBERS 3
#define PATCHES_MOST 256

static struct world {
	struct xbond_settings settings;
	struct xbond_table table;
	struct xbond_buckets buckets;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
	struct xbond_hold hold[XBOND_MAX_SLAVES];
	struct xbond_lacp lacp;
	struct xbond_attached attached;
	struct xbond_verdict monitors[XBOND_MAX_SLAVES];
	struct xbond_quality quality[XBOND_MAX_SLAVES];
	struct xbond_probes probes;
	struct xbond_bfd bfd;
	struct xbond_failover failover;
	struct xbond_afxdp afxdp;
	struct loop_figures loop;
} sound, found; /* what it is when sound, and as it is found */
static struct patch {
	size_t at, size;
} patches[PATCHES_MOST + 1];
static size_t patch_count;
static struct input input;

static void pins_fill_lacp(struct xbond_lacp *lacp)
{
	struct lacp_system_state *system = &lacp->copy[0].system;

	system->version = LACP_STATE_VERSION;
	system->config = lacp_config_default();
	memcpy(system->config.system, "\x02\x00\x00\x00\x00\x41", LACP_MAC_SIZE);
	system->active_aggregator = 1;
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		lacp->copy[0].port[slot] = (struct lacp_port_state){
			.used = 1,
			.config = { .speed_mbps = 10000,
				    .port = (uint16_t)(slot + 1),
				    .port_priority = 255,
				    .duplex = LACP_DUPLEX_FULL,
				    .link = 1 },
			.partner = { .system = { 2, 0, 0, 0, 0, 0x42 },
				     .key = 7,
				     .port = 1,
				     .state = 0x3f },
			.actor = { .port = (uint16_t)(slot + 1), .key = 13, .state = 0x3f },
			.rx = LACP_RX_CURRENT,
			.mux = LACP_MUX_COLLECTING_DISTRIBUTING,
			.selected = LACP_SELECTED,
			.aggregator = 1,
			.told = LACP_COLLECTING | LACP_DISTRIBUTING,
		};
}

static void pins_fill(void)
{
	uint32_t weight[XBOND_MAX_SLAVES] = { 10000, 10000, 10000 };

	sound.bond.magic = XBOND_ABI_MAGIC;
	sound.bond.abi_version = XBOND_ABI_VERSION;
	sound.bond.state = XBOND_BOND_READY;
	sound.bond.mode = XBOND_MODE_8023AD;
	memcpy(sound.bond.name, "bond0", sizeof("bond0"));
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		sound.slaves[slot].state = XBOND_SLOT_MEMBER;
		sound.slaves[slot].link = XBOND_LINK_UP;
		sound.slaves[slot].speed_mbps = 10000;
		snprintf(sound.slaves[slot].name, sizeof(sound.slaves[slot].name), "eth%u", slot);
		sound.table.tx_mask |= UINT64_C(1) << slot;
		sound.table.ifindex[slot] = slot + 10;
	}
	sound.table.rx_mask = sound.table.tx_mask;
	for (unsigned int copy = 0; copy < 2; copy++)
		buckets_assign(sound.buckets.bucket[copy], sound.buckets.home, weight, weight);
	pins_fill_lacp(&sound.lacp);
	found = sound;
}

/* What is no longer as in a sound bond, until it is mended. */
static void pins_will_write(size_t at, size_t size)
{
	patches[patch_count++] = (struct patch){ at, size };
}

/* A map that a reader sees. */
#define PINS_MAP(name)                                           \
	{                                                        \
		offsetof(struct world, name), sizeof(sound.name) \
	}

/* A patch: which map, where, how many bytes, and these. */
static void pins_patch(const struct patch *maps, size_t count)
{
	const struct patch *map = &maps[input_u8(&input) % count];
	size_t at = (input_u16(&input) | (size_t)input_u8(&input) << 16) % map->size;
	size_t size = (input_u8(&input) & 31) + 1u;

	if (size > map->size - at)
		size = map->size - at;
	pins_will_write(map->at + at, size);
	input_take(&input, (char *)&found + map->at + at, size);
}

static void pins_mend(struct patch patch)
{
	memcpy((char *)&found + patch.at, (char *)&sound + patch.at, patch.size);
}

static struct pins pinned = { .dir = "/sys/fs/bpf/xbond/bond0",
			      .settings = &found.settings,
			      .table = &found.table,
			      .buckets = &found.buckets,
			      .bond = &found.bond,
			      .slaves = found.slaves,
			      .hold = found.hold,
			      .lacp = &found.lacp };

/*
 * Lets somebody read the bond as the rest of the input patches it, unless pins_open() refuses. Maps
 * that the reader does not see would be patched in vain.
 */
static void pins_let_read(void (*reader)(const struct pins *pins), const struct patch *maps,
			  size_t count)
{
	struct err err;

	while (input.left && patch_count < PATCHES_MOST)
		pins_patch(maps, count);
	if (!pins_check(&pinned, "bond0", &err))
		reader(&pinned);
	while (patch_count)
		pins_mend(patches[--patch_count]);
}

/* Before each execution. */
static void pins_start(const uint8_t *data, size_t size)
{
	if (!sound.bond.magic)
		pins_fill();
	input = (struct input){ data, size };
}

#endif
