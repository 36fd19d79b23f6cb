/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scenario may expect of a system (`A carries 2`) or of a port (`A.1 standby`); several are
 * joined by `&`.
 */
#include <stdlib.h>
#include <string.h>

#include "rules/link_state.h"
#include "tests/sim/scenario.h"
#include "view/lacp_why.h"

static bool system_holds(struct scenario *scenario, const struct system *system, char **words,
			 int count)
{
	const char *what = words[0], *value = count > 1 ? words[1] : "";
	int representative = system->away ? -1 : lacp_representative(&system->lacp);

	if (!strcmp(what, "carries"))
		return world_carrying(system) == (unsigned int)atoi(value);
	if (!strcmp(what, "carrier"))
		return carrier_has_enough(lacp_distributing(&system->lacp),
					  system->lacp.state.config.min_links) ==
		       !strcmp(value, "up");
	if (!strcmp(what, "rate"))
		return lacp_rate_fast(&system->lacp) == !strcmp(value, "fast");
	if (!strcmp(what, "partner"))
		return representative >= 0 &&
		       system->lacp.port[representative].partner.system[5] ==
			       scenario_system(scenario, value)->lacp.state.config.system[5];
	scenario_wrong(scenario, "no such condition of a system");
	return false;
}

/* A sentence that begins with these words. */
static bool why_is(const struct system *system, unsigned int slot, char **words, int count)
{
	char said[LACP_WHY_SIZE], expected[LACP_WHY_SIZE] = "";

	for (int i = 0; i < count; i++) {
		strncat(expected, words[i], sizeof(expected) - strlen(expected) - 1);
		if (i + 1 < count)
			strncat(expected, " ", sizeof(expected) - strlen(expected) - 1);
	}
	lacp_why(&system->lacp, slot, system->world->now_ns, NULL, NULL, said);
	return !strncmp(said, expected, strlen(expected));
}

static bool port_holds(struct scenario *scenario, const struct system *system, unsigned int slot,
		       char **words, int count)
{
	const struct lacp_port_state *state = &system->lacp.port[slot];
	const char *what = words[0], *value = count > 1 ? words[1] : "";

	if (!strcmp(what, "carries"))
		return system->port[slot].collecting && system->port[slot].distributing;
	if (!strcmp(what, "collects"))
		return system->port[slot].collecting && !system->port[slot].distributing;
	if (!strcmp(what, "idle"))
		return !system->port[slot].collecting && !system->port[slot].distributing;
	if (!strcmp(what, "is"))
		return !strcmp(value, lacp_selected_name(state->selected));
	if (!strcmp(what, "rx"))
		return !strcmp(value, lacp_rx_name(state->rx));
	if (!strcmp(what, "mux"))
		return !strcmp(value, lacp_mux_name(state->mux));
	if (!strcmp(what, "actor_churn"))
		return !strcmp(value, lacp_churn_name(state->actor_churn));
	if (!strcmp(what, "partner_churn"))
		return !strcmp(value, lacp_churn_name(state->partner_churn));
	if (!strcmp(what, "drained"))
		return system->port[slot].drained &&
		       system->port[slot].far_ok == !strcmp(value, "answered");
	if (!strcmp(what, "why"))
		return why_is(system, slot, words + 1, count - 1);
	scenario_wrong(scenario, "no such condition of a port");
	return false;
}

static bool one_holds(struct scenario *scenario, char **words, int count)
{
	const struct system *system = scenario_system(scenario, words[0]);

	if (count < 2)
		scenario_wrong(scenario, "a condition has at least two words");
	else if (words[0][1])
		return port_holds(scenario, system, scenario_end(scenario, words[0]).slot,
				  words + 1, count - 1);
	else
		return system_holds(scenario, system, words + 1, count - 1);
	return false;
}

bool scenario_holds(struct scenario *scenario, char **words, int count)
{
	for (int begin = 0, end; begin < count; begin = end + 1) {
		for (end = begin; end < count && strcmp(words[end], "&") != 0;)
			end++;
		if (!one_holds(scenario, words + begin, end - begin))
			return false;
	}
	return true;
}
