/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the metrics tell about a bond, as numbers, from its pinned maps. NAN is unknown.
 * metrics_collect.c names them and says what they mean.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_BOND_H
#define XBOND_DAEMON_METRICS_METRICS_BOND_H

#include "common/pins.h"
#include "daemon/metrics/metrics_text.h"

#define METRICS_LABELS_SIZE 96
#define METRICS_BOND_SIZE 48
#define METRICS_INFO_SIZE 160
#define METRICS_LACP_FLAGS 5 /* of a port's state: metrics_port_flag_name() */

struct metrics_traffic {
	double tx_packets, tx_bytes, rx_packets, rx_bytes, rx_dropped;
};

/* NAN in a bond that does not speak LACP. */
struct metrics_port {
	double actor[METRICS_LACP_FLAGS], partner[METRICS_LACP_FLAGS];
	double selected, actor_churned, partner_churned;
	double lacpdu_rx, lacpdu_tx, marker_rx, marker_tx, illegal_rx, stranger_rx;
	double answers; /* of the programs, while bondd was away */
};

struct metrics_slave {
	char labels[METRICS_LABELS_SIZE];
	char info[METRICS_INFO_SIZE]; /* more labels */
	double up, active, in_use, drained, attached, trouble;
	double monitor[XBOND_MONITORS];
	double weight, share, speed_bytes;
	struct metrics_traffic traffic;
	double link_failures, resets, detached;
	double drops[XBOND_DROPS];
	struct metrics_port port;
};

struct metrics_bond {
	char labels[METRICS_BOND_SIZE];
	char master[METRICS_BOND_SIZE]; /* the same under node_exporter's name for it */
	char info[METRICS_INFO_SIZE];
	char lacp_info[METRICS_INFO_SIZE]; /* "": not in mode 802.3ad */
	double readable; /* 0: its maps are of another version, or damaged; all else is unknown */
	double slave_count, up_count;
	double carrier, speed_bytes, attached, detached, moved_buckets;
	struct metrics_traffic traffic;
	double drops[XBOND_DROPS]; /* of the bond as a whole; those of slaves are not in it */
	double ports;		   /* of the active aggregator */
	struct metrics_histogram failover;
	struct metrics_slave *slaves;
	size_t count; /* of them */
};

/* pins: NULL if they cannot be read. Returns 0, or -errno if the counters cannot be read. */
int metrics_bond_read(const struct pins *pins, const char *name, struct metrics_bond *ret_bond);
void metrics_bond_done(struct metrics_bond *bond);

#endif
