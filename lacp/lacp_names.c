/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of states and flags, as xbond-json(5) lists them. For JSON, the log and the simulator. */
#include "lacp/lacp.h"

#define NAME_OF(table, number) \
	((number) < sizeof(table) / sizeof(*(table)) && (table)[number] ? (table)[number] : "?")

static const char *const rx_names[] = {
	[LACP_RX_INITIALIZE] = "initialize",	   [LACP_RX_PORT_DISABLED] = "port_disabled",
	[LACP_RX_LACP_DISABLED] = "lacp_disabled", [LACP_RX_EXPIRED] = "expired",
	[LACP_RX_DEFAULTED] = "defaulted",	   [LACP_RX_CURRENT] = "current",
};

static const char *const mux_names[] = {
	[LACP_MUX_DETACHED] = "detached",
	[LACP_MUX_WAITING] = "waiting",
	[LACP_MUX_ATTACHED] = "attached",
	[LACP_MUX_COLLECTING] = "collecting",
	[LACP_MUX_DISTRIBUTING] = "distributing",
	[LACP_MUX_COLLECTING_DISTRIBUTING] = "collecting_distributing",
};

static const char *const selected_names[] = {
	[LACP_UNSELECTED] = "unselected",
	[LACP_SELECTED] = "selected",
	[LACP_STANDBY] = "standby",
};

static const char *const churn_names[] = {
	[LACP_CHURN_MONITOR] = "monitoring",
	[LACP_CHURN_NONE] = "none",
	[LACP_CHURN_CHURNED] = "churned",
};

static const char *const flag_names[] = {
	"activity",   "timeout",      "aggregation", "synchronization",
	"collecting", "distributing", "defaulted",   "expired",
};

const char *lacp_rx_name(unsigned int state)
{
	return NAME_OF(rx_names, state);
}

const char *lacp_mux_name(unsigned int state)
{
	return NAME_OF(mux_names, state);
}

const char *lacp_selected_name(unsigned int selected)
{
	return NAME_OF(selected_names, selected);
}

const char *lacp_churn_name(unsigned int state)
{
	return NAME_OF(churn_names, state);
}

const char *lacp_flag_name(unsigned int bit)
{
	return NAME_OF(flag_names, bit);
}
