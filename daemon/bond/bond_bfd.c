/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"

#include <string.h>
#include <sys/socket.h>

#include "daemon/base/event.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/daemon.h"

#define US_PER_MS 1000u

/* What the BFD thread was told last. */
struct bond_bfd {
	struct bfd_thread_bond *thread; /* NULL while the bond does not have the monitor */
	struct bfd_thread_config config;
	struct bfd_thread_port ports[XBOND_MAX_SLAVES];
};

static struct bond_bfd *bfd_of(const struct bond *bond)
{
	return part_of_bond(bond, &bfd_part);
}

struct bfd_thread_bond *bond_bfd_thread(const struct bond *bond)
{
	return bfd_of(bond)->thread;
}

bool bond_bfd_is_wanted(const struct xbond_bond *pin)
{
	return pin->state != XBOND_BOND_DELETING && pin->bfd_interval_ms && pin->bfd_local.family &&
	       pin->bfd_local.family == pin->bfd_remote.family;
}

static struct bfd_thread_config bond_bfd_config_of(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct bfd_thread_config config = {
		.ends.six = pin->bfd_local.family == AF_INET6,
		.interval_us = pin->bfd_interval_ms * US_PER_MS,
		.multiplier = pin->bfd_multiplier,
	};

	memcpy(config.ends.local, pin->bfd_local.bytes, sizeof(config.ends.local));
	memcpy(config.ends.remote, pin->bfd_remote.bytes, sizeof(config.ends.remote));
	return config;
}

/* A bondd that died has left them, and their slaves have gone since. */
static void bond_bfd_end_orphans(struct bond *bond)
{
	static const struct bfd_thread_port none;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (!bond_is_member(bond, slot) && bond->dataplane.pins.bfd->link[slot].enabled)
			bfd_thread_set_port(bfd_of(bond)->thread, slot, &none);
}

static void bond_bfd_configure_all(struct bond *bond)
{
	struct bond_bfd *bfd = bfd_of(bond);
	struct bfd_thread_config config = bond_bfd_config_of(bond);
	bool begins = !bfd->thread;
	struct err err;

	if (begins) {
		memset(bfd->ports, 0, sizeof(bfd->ports));
		bfd->thread = bfd_thread_add(bond->daemon->bfd_thread, &bond->dataplane.pins,
					     &config, &err);
		if (bfd->thread)
			bond_bfd_end_orphans(bond);
		else
			event_error(bond_pin(bond)->name, NULL, "%s", err.text);
	} else if (memcmp(&config, &bfd->config, sizeof(config))) {
		bfd_thread_configure(bfd->thread, &config);
	}
	bfd->config = config;
}

static void bond_bfd_configure_port(struct bond *bond, unsigned int slot)
{
	struct bond_bfd *bfd = bfd_of(bond);
	struct bfd_thread_port port = { 0 };

	if (bond_is_member(bond, slot)) {
		port.ifindex = (int)bond_slave(bond, slot)->ifindex;
		memcpy(port.mac, bond_slave(bond, slot)->mac, XBOND_MAC_SIZE);
	}
	if (!memcmp(&port, &bfd->ports[slot], sizeof(port)))
		return;
	bfd->ports[slot] = port;
	bfd_thread_set_port(bfd->thread, slot, &port);
}

/* A bondd that died while the monitor was turned off may have left sessions. */
static void bond_bfd_end(struct bond *bond)
{
	struct xbond_bfd *left = bond->dataplane.pins.bfd;
	static const struct bfd_ends none;

	bond_bfd_stop(bond, true);
	if (left && memcmp(&left->ends, &none, sizeof(none)))
		memset(left, 0, sizeof(*left));
}

void bond_bfd_configure(struct bond *bond)
{
	if (!bond->dataplane.pins.bfd || !bond_bfd_is_wanted(bond_pin(bond))) {
		bond_bfd_end(bond);
		return;
	}
	bond_bfd_configure_all(bond);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && bfd_of(bond)->thread; slot++)
		bond_bfd_configure_port(bond, slot);
}

void bond_bfd_stop(struct bond *bond, bool forget)
{
	struct bond_bfd *bfd = bfd_of(bond);

	if (bfd->thread)
		bfd_thread_remove(bfd->thread, forget);
	bfd->thread = NULL;
}

struct part bfd_part = { .bond_size = sizeof(struct bond_bfd), .stop = bond_bfd_stop };
