/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_together.h"

#include <errno.h>
#include <string.h>

#include "common/mode.h"
#include "rules/link_state.h"

/* A netkit has no XDP. device_kind: of a bond that exists. */
static int option_together_netkit(const struct xbond_bond *bond, struct err *err)
{
	bool asks_for_xdp = bond->rx_hook != XBOND_RX_TC || bond->xdp_tx;

	if (!asks_for_xdp ||
	    (bond->device_kind != XBOND_DEVICE_NETKIT && bond->device != XBOND_DEVICE_NETKIT))
		return 0;
	return err_set(err, EOPNOTSUPP, "%s: netkit has no XDP: create the bond with device veth",
		       bond->xdp_tx ? "xdp_tx" : "rx_hook");
}

static int option_together_team(const struct xbond_bond *bond, struct err *err)
{
	if (bond->device_kind != XBOND_DEVICE_TEAM && bond->device != XBOND_DEVICE_TEAM)
		return 0;
	if (bond->rx_hook != XBOND_RX_TC || bond->xdp_tx)
		return err_set(err, EOPNOTSUPP,
			       "%s: a team has no XDP: create the bond with device veth",
			       bond->xdp_tx ? "xdp_tx" : "rx_hook");
	if (!bond->rx_backlog)
		return err_set(err, EOPNOTSUPP,
			       "rx_backlog: a team never uses the backlog; leave the option on");
	if (mode_has(bond->mode, MODE_OWN_MACS))
		return err_set(err, EOPNOTSUPP,
			       "mode: %s gives the slaves addresses of their own, and a team gives "
			       "them its own: create the bond with device veth",
			       mode_name(bond->mode));
	return 0;
}

static int option_together_team_macs(const struct xbond_bond *bond, struct err *err)
{
	const char *name = bond->mac_policy == XBOND_MAC_FILTER ? "mac_policy" : "fail_over_mac";

	if (!bond->team_sends || (bond->mac_policy != XBOND_MAC_FILTER &&
				  bond->fail_over_mac == XBOND_FAIL_OVER_MAC_NONE))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s: the bond's team gives the slaves its own address; create the bond "
		       "again with %s",
		       name, name);
}

static int option_together_bfd(const struct xbond_bond *bond, struct err *err)
{
	const struct xbond_address *local = &bond->bfd_local, *remote = &bond->bfd_remote;

	if (local->family && local->family == remote->family &&
	    !memcmp(local->bytes, remote->bytes, sizeof(local->bytes)))
		return err_set(err, EINVAL,
			       "bfd_remote: both ends have the same address; give the far end's");
	if (!bond->bfd_interval_ms)
		return 0;
	if (!local->family || !remote->family)
		return err_set(
			err, EINVAL,
			"bfd_interval: BFD needs the addresses of both ends; set %s, too, or "
			"first",
			local->family
				? "bfd_remote"
				: (remote->family ? "bfd_local" : "bfd_local and bfd_remote"));
	if (local->family != remote->family)
		return err_set(err, EINVAL,
			       "bfd_remote: one end has an IPv4 address and the other an IPv6 "
			       "address; give both the same kind");
	return 0;
}

static int option_together_silence(const struct xbond_bond *bond, struct err *err)
{
	if (!bond->rx_silence_ms || bond->rx_silence_ms >= SILENCE_MIN_MS)
		return 0;
	return err_set(err, EINVAL,
		       "rx_silence: %u ms is too short, because counters are read every %u ms at "
		       "most; allowed: 0 (off), or %u and more",
		       bond->rx_silence_ms, SILENCE_SHORTEST_MS, SILENCE_MIN_MS);
}

static int option_together_backlog(const struct xbond_bond *bond, struct err *err)
{
	if (bond->rx_backlog || bond->mac_policy == XBOND_MAC_SET)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "rx_backlog: off needs slaves with the bond's address: mac_policy set");
}

static int option_together_macs(const struct xbond_bond *bond, struct err *err)
{
	if (bond->mac_policy != XBOND_MAC_FILTER)
		return 0;
	if (mode_has(bond->mode, MODE_OWN_MACS))
		return err_set(err, EOPNOTSUPP,
			       "mode: %s changes the MAC addresses of slaves, and mac_policy "
			       "filter keeps them; use one of them",
			       mode_name(bond->mode));
	if (bond->fail_over_mac != XBOND_FAIL_OVER_MAC_FOLLOW)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "fail_over_mac: follow changes the MAC addresses of slaves, and mac_policy "
		       "filter keeps them; use one of them");
}

/* Their answers would come to the active slave, and teach the targets other addresses. */
static int option_together_probes(const struct xbond_bond *bond, struct err *err)
{
	if (!bond->arp_interval_ms || !mode_has(bond->mode, MODE_OWN_MACS))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "arp_interval: mode %s has no probes, because its slaves have different "
		       "addresses; set arp_interval 0",
		       mode_name(bond->mode));
}

static const struct option_together option_together_table[] = {
	{ option_together_netkit, { OPT_DEVICE, OPT_RX_HOOK, OPT_XDP_TX }, 3 },
	{ option_together_team,
	  { OPT_DEVICE, OPT_MODE, OPT_RX_HOOK, OPT_XDP_TX, OPT_RX_BACKLOG },
	  5 },
	{ option_together_team_macs, { OPT_DEVICE, OPT_MAC_POLICY, OPT_FAIL_OVER_MAC }, 3 },
	{ option_together_bfd, { OPT_BFD_INTERVAL, OPT_BFD_LOCAL, OPT_BFD_REMOTE }, 3 },
	{ option_together_silence, { OPT_RX_SILENCE }, 1 },
	{ option_together_backlog, { OPT_RX_BACKLOG, OPT_MAC_POLICY }, 2 },
	{ option_together_macs, { OPT_MODE, OPT_FAIL_OVER_MAC, OPT_MAC_POLICY }, 3 },
	{ option_together_probes, { OPT_ARP_INTERVAL, OPT_MODE }, 2 },
};

const struct option_together *option_together_at(unsigned int i)
{
	return i < sizeof(option_together_table) / sizeof(option_together_table[0])
		       ? &option_together_table[i]
		       : NULL;
}

int option_together_check(const struct xbond_bond *bond, struct err *err)
{
	const struct option_together *together;
	int r = 0;

	for (unsigned int i = 0; (together = option_together_at(i)) && !r; i++)
		r = together->check(bond, err);
	return r;
}
