/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a bond from its pinned maps. While bondd is away, the programs' own rules count. */
#include <errno.h>
#include <string.h>

#include "cli/base/aftermath.h"
#include "cli/base/foretell.h"
#include "cli/simulate/simulate.h"
#include "common/mode.h"
#include "common/slots.h"
#include "options/values.h"
#include "rules/buckets.h"

static void simulate_take_failure(struct simulate_failure *failure, const struct pins *pins,
				  unsigned int failed)
{
	struct aftermath after = aftermath_of(pins, failed);

	failure->at_once = values_undrained(pins, after.at_once);
	failure->mask = values_undrained(pins, after.settled | after.unsure);
	failure->unsure = failure->mask & after.unsure;
	weights_of(pins, failure->mask, failure->member_weight, failure->weight);
}

static void simulate_take_rule_of(struct simulate *simulate, const struct pins *pins)
{
	simulate->rule = (struct flow_rule){ .policy = pins->settings->xmit_hash_policy,
					     .seed = pins->table->hash_seed,
					     .symmetric = pins->settings->symmetric,
					     .flow_label = pins->settings->ip6_flow_label };
	memcpy(simulate->mac, pins->bond->mac, sizeof(simulate->mac));
	simulate->is_tlb = mode_has(pins->bond->mode, MODE_OWN_MACS);
}

static void simulate_take_slaves(struct simulate *simulate, const struct pins *pins)
{
	foretell_settle(pins, simulate->settled.bucket, simulate->settled.home);
	foretell_owners(pins, simulate->table.bucket);
	memcpy(simulate->table.home, simulate->settled.home, XBOND_BUCKETS);
	weights_of(pins, simulate->mask, simulate->member_weight, simulate->weight);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		memcpy(simulate->name[slot], pins->slaves[slot].name, XBOND_NAME_SIZE);
		if (slots_have(simulate->mask, slot))
			simulate_take_failure(&simulate->failure[slot], pins, slot);
	}
}

static int simulate_take_pins(struct simulate *simulate, const struct pins *pins, struct err *err)
{
	if (pins->table->selection != XBOND_SELECT_HASH)
		return err_set(err, EINVAL,
			       "%s is in mode %s, where no hash chooses; simulate without it: "
			       "'bondctl simulate --slaves N'",
			       simulate->bond, mode_name(pins->bond->mode));
	simulate->mask = foretell_live(pins);
	if (!simulate->mask)
		return err_set(err, ENOLINK, "no slave of %s may transmit now", simulate->bond);
	simulate_take_rule_of(simulate, pins);
	simulate_take_slaves(simulate, pins);
	return 0;
}

int simulate_take_bond(struct simulate *simulate, const char *bpf_dir, struct err *err)
{
	struct pins pins;
	int r = pins_open(&pins, bpf_dir, simulate->bond, err);

	if (r)
		return r;
	r = simulate_take_pins(simulate, &pins, err);
	pins_close(&pins);
	return r;
}
