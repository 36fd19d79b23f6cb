/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the metrics tell about LACP, and about the control packets of a slave. */
#ifndef XBOND_DAEMON_METRICS_METRICS_PORT_H
#define XBOND_DAEMON_METRICS_METRICS_PORT_H

#include "daemon/metrics/metrics_bond.h"
#include "lacp/lacp.h"

/* lacp: NULL if the mode is not 802.3ad. */
void metrics_port_read(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot,
		       struct metrics_slave *ret_slave);
const char *metrics_port_flag_name(unsigned int index);
void metrics_port_read_bond(const struct lacp_system *lacp, struct metrics_bond *ret_bond);

#endif
