/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/event.h"
#include "daemon/dataplane/xdp_load.h"

/* What one link attaches, or shall attach. */
struct spot {
	struct bond *bond;
	enum xdp_role role;
	int ifindex;
	const char *device;
};

/* The tags of this build's programs. Only the kernel can compute them, when one is loaded. */
static struct {
	bool known;
	struct xdp_identity identity;
} build[XDP_ROLE_COUNT];

static int xdp_upgrade_load(const struct spot *spot, struct err *err)
{
	struct xdp_object *object;
	int r = xdp_object_open(&object, spot->bond->dataplane.pins.dir, spot->role, spot->ifindex,
				bond_pin(spot->bond)->port_ifindex, err);

	if (r)
		return r;
	r = xdp_object_load(object, err);
	xdp_object_close(object);
	if (r >= 0)
		build[spot->role].known = !xdp_object_identify(r, spot->bond->dataplane.pins.dir,
							       &build[spot->role].identity);
	return r;
}

static bool xdp_upgrade_is_current(const struct spot *spot, int program_fd)
{
	struct xdp_identity identity;

	return build[spot->role].known &&
	       !xdp_object_identify(program_fd, spot->bond->dataplane.pins.dir, &identity) &&
	       !memcmp(&identity, &build[spot->role].identity, sizeof(identity));
}

static int xdp_upgrade_update(const struct spot *spot, int link_fd, int old_fd, struct err *err)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
		    .old_prog_fd = (__u32)old_fd);
	int new_fd, r = 0;

	if (xdp_upgrade_is_current(spot, old_fd))
		return 0;
	new_fd = xdp_upgrade_load(spot, err);
	if (new_fd < 0)
		return new_fd;
	if (!xdp_upgrade_is_current(spot, old_fd))
		r = bpf_link_update(link_fd, new_fd, &options);
	close(new_fd);
	return r < 0 ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

/* The program of the link; the caller closes it. Its name tells its role on a slave. */
static int xdp_upgrade_attached_program(int link_fd, enum xdp_role *role)
{
	struct bpf_link_info link = {};
	struct bpf_prog_info program = {};
	uint32_t length = sizeof(link);
	int fd;

	if (bpf_obj_get_info_by_fd(link_fd, &link, &length))
		return -1;
	fd = bpf_prog_get_fd_by_id(link.prog_id);
	length = sizeof(program);
	if (fd >= 0 && *role < XDP_ROLE_TX && !bpf_obj_get_info_by_fd(fd, &program, &length))
		*role = strcmp(program.name, XDP_RX_NAME) ? XDP_ROLE_RX_TAGS : XDP_ROLE_RX;
	return fd;
}

static void xdp_upgrade_tell(const struct spot *spot, int r, const struct err *err)
{
	if (r)
		event_warning(bond_pin(spot->bond)->name, spot->device,
			      "the XDP program on %s cannot be replaced, and stays: %s",
			      spot->device, err->text);
}

static void xdp_upgrade_link(struct spot *spot, int link_fd)
{
	int old_fd = xdp_upgrade_attached_program(link_fd, &spot->role);
	struct err err;

	if (old_fd < 0)
		return;
	xdp_upgrade_tell(spot, xdp_upgrade_update(spot, link_fd, old_fd, &err), &err);
	close(old_fd);
}

static void xdp_upgrade_dispatched(const struct spot *spot)
{
	struct err err;
	int r = 0;

	if (!build[XDP_ROLE_RX].known) {
		r = xdp_upgrade_load(spot, &err);
		if (r >= 0)
			close(r);
	}
	if (r >= 0)
		r = xdp_dispatcher_upgrade(spot->bond->dataplane.pins.dir, spot->ifindex,
					   bond_pin(spot->bond)->port_ifindex,
					   &build[XDP_ROLE_RX].identity, &err);
	xdp_upgrade_tell(spot, r, &err);
}

void xdp_upgrade_slave(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct spot spot = { bond, XDP_ROLE_RX, (int)slave->ifindex, slave->name };
	char pin[PIN_PATH_SIZE];
	int link_fd;

	if (slave->rx_hook != XBOND_RX_XDP)
		return;
	xdp_slave_pin(pin, bond, slot);
	link_fd = bpf_obj_get(pin);
	if (link_fd < 0) {
		xdp_upgrade_dispatched(&spot);
		return;
	}
	xdp_upgrade_link(&spot, link_fd);
	close(link_fd);
}

void xdp_upgrade_tx(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct spot spot = { bond, xdp_role_tx(bond->dataplane.pins.dir), (int)pin->port_ifindex,
			     pin->port_name };
	int link_fd = pin_open(bond->dataplane.pins.dir, XBOND_PIN_LINK_XDP_TX);

	if (link_fd < 0)
		return;
	xdp_upgrade_link(&spot, link_fd);
	close(link_fd);
}
