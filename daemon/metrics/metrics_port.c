/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_port.h"

#include <math.h>
#include <stdio.h>

#include "common/mac.h"
#include "common/slots.h"

/* Bits that tell how a port does; the others say what it was told to do. */
static const unsigned int flag_bits[METRICS_LACP_FLAGS] = { 3, 4, 5, 6, 7 };

_Static_assert(LACP_SYNCHRONIZATION == 1 << 3 && LACP_EXPIRED == 1 << 7, "these bits");

const char *metrics_port_flag_name(unsigned int index)
{
	return lacp_flag_name(flag_bits[index]);
}

static void metrics_port_read_flags(uint8_t state, double ret_flags[METRICS_LACP_FLAGS])
{
	for (unsigned int i = 0; i < METRICS_LACP_FLAGS; i++)
		ret_flags[i] = state >> flag_bits[i] & 1;
}

static void metrics_port_read_counters(const struct lacp_counters *counters,
				       struct metrics_port *ret_port)
{
	ret_port->lacpdu_rx = (double)counters->lacpdu_rx;
	ret_port->lacpdu_tx = (double)counters->lacpdu_tx;
	ret_port->marker_rx = (double)counters->marker_rx;
	ret_port->marker_tx = (double)counters->marker_tx;
	ret_port->illegal_rx = (double)counters->illegal_rx;
	ret_port->stranger_rx = (double)counters->stranger_rx;
}

static struct metrics_port metrics_port_unknown(void)
{
	struct metrics_port port;
	double *value = (double *)&port;

	_Static_assert(sizeof(port) % sizeof(*value) == 0, "numbers only");
	for (size_t i = 0; i < sizeof(port) / sizeof(*value); i++)
		value[i] = NAN;
	return port;
}

static struct metrics_port metrics_port_of(const struct pins *pins,
					   const struct lacp_port_state *port, unsigned int slot)
{
	struct metrics_port ret_port;

	metrics_port_read_flags(port->actor.state, ret_port.actor);
	metrics_port_read_flags(port->partner.state, ret_port.partner);
	ret_port.selected = port->selected == LACP_SELECTED;
	ret_port.actor_churned = port->actor_churn == LACP_CHURN_CHURNED;
	ret_port.partner_churned = port->partner_churn == LACP_CHURN_CHURNED;
	metrics_port_read_counters(&port->counters, &ret_port);
	ret_port.answers = pins->hold[slot].answers;
	return ret_port;
}

void metrics_port_read(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot,
		       struct metrics_slave *ret_slave)
{
	bool is_port = lacp && slots_have(lacp->used, slot);

	ret_slave->port =
		is_port ? metrics_port_of(pins, &lacp->port[slot], slot) : metrics_port_unknown();
}

void metrics_port_read_bond(const struct lacp_system *lacp, struct metrics_bond *ret_bond)
{
	static const struct lacp_port_state none;
	int slot = lacp ? lacp_representative(lacp) : -1;
	const struct lacp_port_state *port = slot < 0 ? &none : &lacp->port[slot];
	char actor[MAC_FORMAT_SIZE], partner[MAC_FORMAT_SIZE];

	ret_bond->lacp_info[0] = '\0';
	ret_bond->ports = lacp ? lacp_num_ports(lacp) : NAN;
	if (!lacp)
		return;
	snprintf(ret_bond->lacp_info, sizeof(ret_bond->lacp_info),
		 "actor_system=\"%s\",actor_key=\"%u\",partner_system=\"%s\",partner_key=\"%u\"",
		 mac_format(lacp->state.config.system, actor), port->actor.key,
		 mac_format(port->partner.system, partner), port->partner.key);
}
