/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_policy.h"

#include "common/mode.h"
#include "common/pins.h"
#include "view/json_value.h"

json_t *view_policy(const struct pins *pins)
{
	struct policy_program program;

	if (!policy_program(pins->dir, XBOND_PIN_POLICY, &program))
		return json_null();
	return *program.name ? json_value_text(program.name)
			     : json_sprintf("program %u", program.id);
}

static bool view_policy_is_asked(const struct pins *pins)
{
	return pins->table->flags & XBOND_F_POLICY;
}

static bool view_policy_can_decide(const struct pins *pins)
{
	return pins->table->selection == XBOND_SELECT_HASH &&
	       !mode_has(pins->bond->mode, MODE_OWN_MACS);
}

static const char *view_policy_why_not(const struct pins *pins)
{
	if (mode_has(pins->bond->mode, MODE_LACP))
		return "it has no effect with lacp_tx balance-rr";
	return "it has no effect in this mode; balance-xor and 802.3ad ask it";
}

bool view_policy_decides(const struct pins *pins)
{
	return view_policy_is_asked(pins) && view_policy_can_decide(pins) &&
	       policy_is_loaded(pins->dir);
}

json_t *view_policy_problem(const struct pins *pins)
{
	if (!policy_is_loaded(pins->dir))
		return json_null();
	if (!view_policy_can_decide(pins))
		return json_string(view_policy_why_not(pins));
	if (!view_policy_is_asked(pins))
		return json_string("the bond's programs do not ask it; start bondd, or restart it");
	return json_null();
}
