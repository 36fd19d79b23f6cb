/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of systems and ports in scenario files, named as for bondctl. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/scenario.h"

static const char *const ad_selects[] = { "stable", "bandwidth", "count", "actor_port_prio", NULL };
static const char *const fallbacks[] = { "none", "one", "all", NULL };
static const char *const duplexes[] = { "half", "full", NULL };

static uint8_t choice(struct scenario *scenario, const char *const *names, const char *value)
{
	for (uint8_t i = 0; names[i]; i++)
		if (!strcmp(names[i], value))
			return i;
	scenario_wrong(scenario, "no such value");
	return 0;
}

static bool flag_option(struct lacp_config *config, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint8_t *flag;
	} flags[] = {
		{ "lacp_active", &config->active }, { "coupled_control", &config->coupled },
		{ "lacp_strict", &config->strict }, { "lacp_hold", &config->hold },
		{ "lacp_revert", &config->revert }, { "min_links_lacp", &config->min_links_strict },
	};

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(flags[i].name, name) != 0)
			continue;
		*flags[i].flag = !strcmp(value, "on");
		return true;
	}
	return false;
}

static bool number_option(struct lacp_config *config, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint16_t *number;
	} numbers[] = {
		{ "max_links", &config->max_links },
		{ "min_links", &config->min_links },
		{ "ad_user_port_key", &config->user_port_key },
		{ "ad_actor_sys_prio", &config->system_priority },
		{ "lacp_wtr", &config->wtr_s },
	};

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (strcmp(numbers[i].name, name) != 0)
			continue;
		*numbers[i].number = (uint16_t)atoi(value);
		return true;
	}
	return false;
}

static void believe(struct lacp_config *config, const char *value)
{
	memset(config->believed, 0, LACP_MAC_SIZE);
	if (value[1])
		return;
	config->believed[0] = 0x02;
	config->believed[5] = (uint8_t)(value[0] - 'A' + 0x41);
}

void scenario_option(struct scenario *scenario, struct lacp_config *config, const char *name,
		     const char *value)
{
	if (flag_option(config, name, value) || number_option(config, name, value))
		return;
	if (!strcmp(name, "lacp_rate"))
		config->rate_fast = !strcmp(value, "fast");
	else if (!strcmp(name, "ad_select"))
		config->ad_select = choice(scenario, ad_selects, value);
	else if (!strcmp(name, "lacp_fallback"))
		config->fallback = choice(scenario, fallbacks, value);
	else if (!strcmp(name, "lacp_fallback_delay"))
		config->fallback_delay_ms = (uint32_t)atoi(value);
	else if (!strcmp(name, "ad_actor_system"))
		config->system[5] = (uint8_t)atoi(value); /* the last octet is enough */
	else if (!strcmp(name, "lacp_partner"))		  /* a system's letter, or none */
		believe(config, value);
	else
		scenario_wrong(scenario, "no such option");
}

void scenario_port_option(struct scenario *scenario, struct lacp_port_config *config,
			  const char *name, const char *value)
{
	if (!strcmp(name, "actor_port_prio"))
		config->port_priority = (uint16_t)atoi(value);
	else if (!strcmp(name, "speed"))
		config->speed_mbps = (uint32_t)atoi(value);
	else if (!strcmp(name, "duplex"))
		config->duplex = choice(scenario, duplexes, value);
	else
		scenario_wrong(scenario, "no such option of a port");
}
