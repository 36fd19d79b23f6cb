/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/xdp_devmap.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "common/pin.h"
#include "common/slots.h"

static void xdp_devmap_point(struct bond *bond, int fd, uint32_t slot, bool sends)
{
	if (sends)
		bpf_map_update_elem(fd, &slot, &bond_slave(bond, slot)->ifindex, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &slot);
}

void xdp_devmap_publish(struct bond *bond, uint64_t mask)
{
	uint64_t changed = bond->devmap.known ? bond->devmap.mask ^ mask : UINT64_MAX;
	int fd;

	if (!changed)
		return;
	fd = pin_open(bond->dataplane.pins.dir, XBOND_PIN_XDP_ALL);
	bond->devmap.known = fd >= 0;
	bond->devmap.mask = mask;
	if (fd < 0)
		return;
	for (uint32_t slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (changed & slots_bit(slot))
			xdp_devmap_point(bond, fd, slot, mask & slots_bit(slot));
	close(fd);
}
