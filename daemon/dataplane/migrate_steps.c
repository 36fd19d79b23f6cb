/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps from each ABI version to the next, in order. A change of bpf/abi.h that raises the
 * version adds a row here. Steps use numbers of their own, because the structs are those of the
 * newest version. A new map needs no step: objects.c marks it `added`.
 */
#include "daemon/dataplane/migrate_steps.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/abi.h"
#include "daemon/dataplane/migrate_maps.h"

#define HOLD_SLOTS 64
#define HOLD_6 488	/* bytes of a slot in version 6 */
#define HOLD_7 496	/* bytes of a slot in version 7, */
#define HOLD_MISSED 424 /* which has missed_ns at this offset, */
#define HOLD_BUDGET 64	/* in front of the budgets */

/* Goes backwards, because each slot moves to a higher place. */
static int hold_learns_what_was_missed(struct migrate *migrate, struct err *err)
{
	int r = migrate_resize(migrate, XBOND_PIN_HOLD, HOLD_SLOTS * HOLD_7, 1);
	uint8_t *hold = migrate_value(migrate, XBOND_PIN_HOLD, 0);

	if (r || !hold)
		return err_set(err, r ? -r : ENOENT, "no map %s", XBOND_PIN_HOLD);
	for (size_t slot = HOLD_SLOTS; slot-- > 0;) {
		uint8_t *new = hold + slot *HOLD_7, *old = hold + slot *HOLD_6;

		memmove(new + HOLD_7 - HOLD_BUDGET, old + HOLD_MISSED, HOLD_BUDGET);
		memmove(new, old, HOLD_MISSED);
		memset(new + HOLD_MISSED, 0, HOLD_7 - HOLD_BUDGET - HOLD_MISSED);
	}
	return 0;
}

#define BOND_8 696		/* bytes of the bond in version 8; version 7 had 280, */
#define BOND_ACTIVE_BY_HAND 278 /* was padding */
#define BOND_NUM_PEER_NOTIF 288 /* and these lie behind them */
#define BOND_RESEND_IGMP 296
#define BOND_ARP_MISSED_MAX 312
#define BOND_BFD_MULTIPLIER 320
#define SLAVES 64
#define SLAVE_8 112 /* bytes of a slave in version 8; version 7 had 104 */

/*
 * The new options get their defaults; those of the others are 0. Whether the active slave was
 * chosen by hand was only in bondd's memory, so it stays, as if it were.
 */
static int bond_learns_failover_options(struct migrate *migrate, struct err *err)
{
	static const struct {
		size_t offset;
		uint32_t initial;
	} options[] = {
		{ BOND_NUM_PEER_NOTIF, 1 },
		{ BOND_RESEND_IGMP, 1 },
		{ BOND_ARP_MISSED_MAX, 2 },
		{ BOND_BFD_MULTIPLIER, 3 },
	};
	int r = migrate_resize(migrate, XBOND_PIN_BOND, BOND_8, 1);
	uint8_t *bond = migrate_value(migrate, XBOND_PIN_BOND, 0);

	if (!r)
		r = migrate_resize(migrate, XBOND_PIN_SLAVES, SLAVE_8, SLAVES);
	if (r || !bond)
		return err_set(err, r ? -r : ENOENT, "no maps %s and %s", XBOND_PIN_BOND,
			       XBOND_PIN_SLAVES);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		memcpy(bond + options[i].offset, &options[i].initial, sizeof(uint32_t));
	bond[BOND_ACTIVE_BY_HAND] = 1;
	return 0;
}

#define BOND_9 720 /* bytes of the bond in version 9 */
#define BOND_REBALANCE_IDLE 700
#define BOND_TLB_DYNAMIC_LB 708
#define BOND_LP_INTERVAL 712

static int bond_learns_steering_options(struct migrate *migrate, struct err *err)
{
	/* The defaults; those of the others are 0. */
	static const uint32_t idle_ms = 100, dynamic_lb = 1, lp_interval_s = 1;
	int r = migrate_resize(migrate, XBOND_PIN_BOND, BOND_9, 1);
	uint8_t *bond = migrate_value(migrate, XBOND_PIN_BOND, 0);

	if (r || !bond)
		return err_set(err, r ? -r : ENOENT, "no map %s", XBOND_PIN_BOND);
	memcpy(bond + BOND_REBALANCE_IDLE, &idle_ms, sizeof(idle_ms));
	memcpy(bond + BOND_TLB_DYNAMIC_LB, &dynamic_lb, sizeof(dynamic_lb));
	memcpy(bond + BOND_LP_INTERVAL, &lp_interval_s, sizeof(lp_interval_s));
	return 0;
}

const struct migrate_step migrate_steps[] = {
	{ 6, hold_learns_what_was_missed },
	{ 7, bond_learns_failover_options },
	{ 8, bond_learns_steering_options },
	{ 0, NULL },
};
