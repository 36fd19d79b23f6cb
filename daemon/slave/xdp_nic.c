/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/xdp_nic.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <string.h>

#include "daemon/bond/daemon.h"
#include "daemon/slave/lro.h"
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
	struct feature strip;
	int r;

	if (feature_get(ethtool, slave->name, FEATURE_VLAN_STRIP, &strip) || !strip.active)
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
