/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/policy_follow.h"

#include "common/policy_pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/dataplane/upgrade.h"
#include "daemon/slave/xdp_upgrade.h"

void policy_follow_adopted(struct bond *bond)
{
	bool asks = policy_is_loaded(bond->dataplane.pins.dir);

	dataplane_set_flags(&bond->dataplane, XBOND_F_POLICY, asks ? XBOND_F_POLICY : 0);
}

/* What attach_check.c and xdp_upgrade.c do at adoption, for the programs that transmit. */
static void policy_follow_attach(struct bond *bond)
{
	bond->adopting = true;
	attach_check_pair(bond, true);
	xdp_upgrade_tx(bond);
	bond->adopting = false;
}

static void policy_follow_tell(struct bond *bond)
{
	struct policy_program program;

	if (policy_program(bond->dataplane.pins.dir, XBOND_PIN_POLICY, &program))
		event_config("policy", bond_pin(bond)->name, NULL, "policy %s decides",
			     program.name);
	else
		event_config("policy", bond_pin(bond)->name, NULL, "no policy is in use now");
}

int policy_follow(struct bond *bond, struct err *err)
{
	int r = upgrade_for_policy(&bond->dataplane, err);

	crashpoint("policy-pinned");
	if (!r)
		r = dataplane_open_programs(&bond->dataplane, err);
	if (r)
		return r;
	policy_follow_attach(bond);
	policy_follow_adopted(bond);
	policy_follow_tell(bond);
	return 0;
}
