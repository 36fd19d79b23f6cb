/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/publish_alb.h"

#include "common/mac.h"
#include "common/pins.h"

static void publish_alb_macs(struct bond *bond, struct xbond_alb *alb)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		store_release(alb->mac[slot], bond_is_member(bond, slot)
						      ? mac_word(bond_slave(bond, slot)->mac)
						      : 0);
	store_release(alb->bond_mac, mac_word(bond_pin(bond)->mac));
}

static void publish_alb_order(struct xbond_alb *alb, const struct dataplane_plan *plan)
{
	store_release(alb->order[0], (uint8_t)plan->active_slot);
	for (unsigned int i = 0; i < XBOND_MAX_SLAVES; i++)
		store_release(alb->order[i + 1], plan->order[i]);
}

void publish_alb(struct bond *bond)
{
	struct xbond_alb *alb = bond->dataplane.pins.alb;

	if (!alb || !mode_has(bond_pin(bond)->mode, MODE_OWN_MACS))
		return;
	publish_alb_macs(bond, alb);
	publish_alb_order(alb, &bond->evaluation.plan);
}

uint32_t publish_alb_flags(struct bond *bond)
{
	uint32_t mode = bond_pin(bond)->mode;

	if (!bond->dataplane.pins.alb || !mode_has(mode, MODE_OWN_MACS))
		return 0;
	return mode_has(mode, MODE_RECEIVES) ? XBOND_F_TLB | XBOND_F_ALB : XBOND_F_TLB;
}
