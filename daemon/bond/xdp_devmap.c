/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/xdp_devmap.h"

#include <bpf/bpf.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "common/pin.h"

static int xdp_devmap_open_map(struct bond *bond, const char *name)
{
	return pin_open(bond->dataplane.pins.dir, name);
}

static bool xdp_devmap_point_to_slaves(struct bond *bond, const char *map, uint64_t mask)
{
	int fd = xdp_devmap_open_map(bond, map);

	if (fd < 0)
		return false;
	for (uint32_t slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (mask >> slot & 1)
			bpf_map_update_elem(fd, &slot, &bond_slave(bond, slot)->ifindex, BPF_ANY);
		else
			bpf_map_delete_elem(fd, &slot);
	}
	close(fd);
	return true;
}

void xdp_devmap_publish(struct bond *bond, uint64_t mask)
{
	uint64_t members = 0;

	if (!bond_pin(bond)->xdp_tx) {
		bond->devmaps.known =
			false; /* before it is on again, a slot may get another device */
		return;
	}
	bond_for_each_member (bond, slot)
		members |= UINT64_C(1) << slot;
	if (bond->devmaps.known && bond->devmaps.members == members && bond->devmaps.mask == mask)
		return;
	bond->devmaps.known = xdp_devmap_point_to_slaves(bond, XBOND_PIN_XDP_SLAVES, members) &&
			      xdp_devmap_point_to_slaves(bond, XBOND_PIN_XDP_ALL, mask);
	bond->devmaps.members = members;
	bond->devmaps.mask = mask;
}
