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

const struct migrate_step migrate_steps[] = {
	{ 6, hold_learns_what_was_missed },
	{ 0, NULL },
};
