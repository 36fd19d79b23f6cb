/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <string.h>

#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/slave.h"
#include "network/driver.h"

int xdp_nic_check(struct bond *bond, const struct xbond_slave *slave, struct err *err)
{
	const uint64_t needed = XDP_FEATURE_BASIC | XDP_FEATURE_REDIRECT;
	struct feature strip;
	uint64_t features;

	if (!xdp_features_get((int)slave->ifindex, &features) && (features & needed) != needed)
		return err_set(err, EOPNOTSUPP, "its driver has no native XDP");
	if (!feature_get(&bond->daemon->ethtool, slave->name, FEATURE_VLAN_STRIP, &strip) &&
	    strip.active && strip.fixed)
		return err_set(err, EOPNOTSUPP, "it always strips VLAN tags");
	return 0;
}

/*
 * For a driver without XDP the kernel itself returns EOPNOTSUPP. If xdp_nic_check() knows that the
 * driver has XDP, the driver returned it.
 */
static bool xdp_nic_may_be_mtu(const struct xbond_slave *slave, int r)
{
	uint64_t features;

	return r == -EINVAL || r == -ERANGE || r == -E2BIG ||
	       (r == -EOPNOTSUPP && !xdp_features_get((int)slave->ifindex, &features));
}

int xdp_nic_explain(struct bond *bond, const struct xbond_slave *slave, int r, struct err *err)
{
	uint32_t mtu = bond_pin(bond)->mtu;

	if (mtu <= ETH_DATA_LEN || !xdp_nic_may_be_mtu(slave, r))
		return r;
	return err_set(err, EMSGSIZE, "its driver takes no XDP program at MTU %u (%s)", mtu,
		       strerror(-r));
}

int xdp_nic_keep_tags(struct bond *bond, struct xbond_slave *slave, struct err *err)
{
	const struct ethtool *ethtool = &bond->daemon->ethtool;
	int r;

	if (!feature_is_on(ethtool, slave->name, FEATURE_VLAN_STRIP))
		return 0;
	slave->before.flags |= XBOND_SLAVE_HAD_VLAN_STRIP;
	r = feature_set(ethtool, slave->name, FEATURE_VLAN_STRIP, false);
	return r < 0 ? err_set(err, -r, "it does not stop stripping VLAN tags: %s", strerror(-r))
		     : 0;
}

void xdp_nic_restore(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	/* What is refused now is tried again when the slave is released. */
	if (slave->before.flags & XBOND_SLAVE_HAD_VLAN_STRIP &&
	    feature_set(&bond->daemon->ethtool, slave->name, FEATURE_VLAN_STRIP, true) >= 0)
		slave->before.flags &= ~(uint32_t)XBOND_SLAVE_HAD_VLAN_STRIP;
	lro_let_go(bond, slot, XBOND_SLAVE_HAD_LRO);
}

/* bond0 takes XDP frames only while it has GRO. */
int xdp_gro_want(struct bond *bond, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct feature gro;
	int r;

	if (bond->device.away)
		return err_set(err, EXDEV, "%s is in another namespace", pin->name);
	r = feature_get(&bond->daemon->ethtool, pin->name, FEATURE_GRO, &gro);
	if (r)
		return err_set(err, -r, "the GRO of %s is unknown: %s", pin->name, strerror(-r));
	if (gro.active)
		return 0;
	pin->gro_was_off = 1;
	r = feature_set(&bond->daemon->ethtool, pin->name, FEATURE_GRO, true);
	return r < 0 ? err_set(err, -r, "%s does not take GRO: %s", pin->name, strerror(-r)) : 0;
}

static bool xdp_gro_some_receive_by_xdp(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_slave(bond, slot)->rx_hook == XBOND_RX_XDP)
			return true;
	return false;
}

/*
 * Where GRO was turned on while bond0 was down, the kernel (seen with 6.18) does not tell the port
 * side, which then drops what slaves redirect to it. Turned off and on while bond0 is up, it does.
 */
static void xdp_gro_renew(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	uint64_t features;
	struct xdp_gro *seen = part_of_bond(bond, &xdp_part);
	bool deaf = !xdp_features_get((int)pin->port_ifindex, &features) &&
		    !(features & XDP_FEATURE_NDO_XMIT);

	if (deaf && !seen->deaf) {
		feature_set(&bond->daemon->ethtool, pin->name, FEATURE_GRO, false);
		feature_set(&bond->daemon->ethtool, pin->name, FEATURE_GRO, true);
	}
	seen->deaf = deaf;
}

/* Somebody has turned it off. This is kept until no slave needs it any more. */
void xdp_gro_keep(struct bond *bond)
{
	struct xdp_gro *seen = part_of_bond(bond, &xdp_part);
	const char *name = bond_pin(bond)->name;
	struct feature gro;
	struct err err;
	bool lost;

	if (bond->device.away || !xdp_gro_some_receive_by_xdp(bond))
		return;
	lost = !feature_get(&bond->daemon->ethtool, name, FEATURE_GRO, &gro) && !gro.active;
	if (lost && !seen->lost)
		event_warning(name, NULL,
			      "generic receive offload is turned on again: its slaves receive "
			      "through XDP");
	if (lost && xdp_gro_want(bond, &err) && !seen->lost)
		event_warning(name, NULL, "%s", err.text);
	seen->lost = lost;
	if (!lost && !bond->device.is_down)
		xdp_gro_renew(bond);
}

void xdp_gro_restore(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);

	if (!pin->gro_was_off || xdp_gro_some_receive_by_xdp(bond))
		return;
	if (!bond->device.away)
		feature_set(&bond->daemon->ethtool, pin->name, FEATURE_GRO, false);
	pin->gro_was_off = 0;
}
