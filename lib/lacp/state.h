/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The state of the LACP core: plain, fixed-width, without pointers, in host byte order, so that it
 * can live in a pinned map and the next bondd can take it over (lacp_adopt()). Only the machines of
 * the core write it; everyone may read. Deadlines are absolute, in nanoseconds of the caller's
 * clock; 0 means that the timer does not run. A change of a size or a meaning raises
 * LACP_STATE_VERSION. Clauses are those of IEEE Std 802.1AX-2014.
 */
#ifndef XBOND_LACP_STATE_H
#define XBOND_LACP_STATE_H

#include <stdint.h>

#define LACP_STATE_VERSION 2
#define LACP_MAX_PORTS 64
#define LACP_MAC_SIZE 6
#define LACP_SECOND 1000000000ull
#define LACP_SHORT_TIMEOUT_TIME (3 * LACP_SECOND) /* 6.4.4 */
#define LACP_LONG_TIMEOUT_TIME (90 * LACP_SECOND)
#define LACP_TX_LIMIT 3 /* PDUs in any Fast_Periodic_Time, 6.4.16 */
/* ns between two answers of the kernel while no daemon runs. */
#define LACP_HOLD_GAP 900000000ULL

/* Bits of lacp_info.state, 6.4.2.3. */
#define LACP_ACTIVITY 0x01
#define LACP_TIMEOUT 0x02 /* short */
#define LACP_AGGREGATION 0x04
#define LACP_SYNCHRONIZATION 0x08
#define LACP_COLLECTING 0x10
#define LACP_DISTRIBUTING 0x20
#define LACP_DEFAULTED 0x40
#define LACP_EXPIRED 0x80

/* Receive machine, 6.4.12. */
enum lacp_rx_state {
	LACP_RX_INITIALIZE = 0,
	LACP_RX_PORT_DISABLED = 1,
	LACP_RX_LACP_DISABLED = 2,
	LACP_RX_EXPIRED = 3,
	LACP_RX_DEFAULTED = 4,
	LACP_RX_CURRENT = 5,
};

/* Periodic Transmission machine, 6.4.13. */
enum lacp_periodic_state {
	LACP_PERIODIC_NONE = 0,
	LACP_PERIODIC_FAST = 1,
	LACP_PERIODIC_SLOW = 2,
	LACP_PERIODIC_TX = 3,
};

/*
 * Mux machine, 6.4.15: COLLECTING and DISTRIBUTING of independent, COLLECTING_DISTRIBUTING of
 * coupled control.
 */
enum lacp_mux_state {
	LACP_MUX_DETACHED = 0,
	LACP_MUX_WAITING = 1,
	LACP_MUX_ATTACHED = 2,
	LACP_MUX_COLLECTING = 3,
	LACP_MUX_DISTRIBUTING = 4,
	LACP_MUX_COLLECTING_DISTRIBUTING = 5,
};

/* The variable Selected, 6.4.8. */
enum lacp_selected {
	LACP_UNSELECTED = 0,
	LACP_SELECTED = 1,
	LACP_STANDBY = 2,
};

/* Churn Detection machines, 6.4.17. */
enum lacp_churn_state {
	LACP_CHURN_MONITOR = 0,
	LACP_CHURN_NONE = 1,
	LACP_CHURN_CHURNED = 2,
};

/* Marker generator, 6.5.4.1. */
enum lacp_marker_state {
	LACP_MARKER_IDLE = 0,
	LACP_MARKER_WAITING = 1,
};

/* The kernel's numbers. */
enum lacp_ad_select {
	LACP_AD_STABLE = 0,
	LACP_AD_BANDWIDTH = 1,
	LACP_AD_COUNT = 2,
	LACP_AD_PORT_PRIO = 3,
};

enum lacp_fallback {
	LACP_FALLBACK_NONE = 0,
	LACP_FALLBACK_ONE = 1,
	LACP_FALLBACK_ALL = 2,
};

/* lacp_port_config.link */
enum lacp_link {
	LACP_LINK_DOWN = 0,
	LACP_LINK_UP = 1,
	/* Up, but the bond is administratively down: the partner is told, then it is like down. */
	LACP_LINK_STOPPED = 2,
};

enum lacp_duplex {
	LACP_DUPLEX_HALF = 0,
	LACP_DUPLEX_FULL = 1,
	LACP_DUPLEX_UNKNOWN = 255,
};

/* One end of a link, as an LACPDU describes it. */
struct lacp_info {
	uint8_t system[LACP_MAC_SIZE];
	uint16_t system_priority;
	uint16_t key;
	uint16_t port_priority;
	uint16_t port;
	uint8_t state;
	uint8_t pad0;
};
_Static_assert(sizeof(struct lacp_info) == 16, "LACP info");

/* The settings of a port, from the user and from the device. */
struct lacp_port_config {
	uint32_t speed_mbps;	/* 0: unknown */
	uint16_t port;		/* 1..65535, unique in the system, never changed while in use */
	uint16_t port_priority; /* lower is better */
	uint8_t mac[LACP_MAC_SIZE];
	uint8_t duplex; /* enum lacp_duplex */
	uint8_t link;	/* enum lacp_link; up is the standard's port_enabled */
};
_Static_assert(sizeof(struct lacp_port_config) == 16, "LACP port configuration");

/* The user's settings for the system, that is, for the bond. */
struct lacp_config {
	uint8_t system[LACP_MAC_SIZE];
	uint16_t system_priority; /* lower is better */
	uint16_t user_port_key;	  /* 0..1023 */
	uint16_t max_links;	  /* 0: no limit */
	uint16_t min_links;	  /* 0 and 1 are the same */
	uint8_t rate_fast;
	uint8_t active;
	uint8_t coupled;
	uint8_t strict;	   /* no port carries traffic without a partner; overrides fallback */
	uint8_t hold;	   /* ask for the short timeout whenever the partner does */
	uint8_t ad_select; /* enum lacp_ad_select */
	uint8_t fallback;  /* enum lacp_fallback */
	/* With max_links: a better port that comes back takes its place again. */
	uint8_t revert;
	/* min_links_lacp: with fewer ports than min_links no port says that it is in sync. */
	uint8_t min_links_strict;
	uint8_t pad0;
	uint32_t fallback_delay_ms;
	/* lacp_partner: the only system accepted as a partner; zero: any. */
	uint8_t believed[LACP_MAC_SIZE];
	/*
	 * Wait to restore: a port that has failed must be heard for this time before it displaces
	 * others.
	 */
	uint16_t wtr_s;
};
_Static_assert(sizeof(struct lacp_config) == 36, "LACP configuration");

/* Counters of a port, 7.3.3 and 7.3.4. */
struct lacp_counters {
	uint64_t lacpdu_rx;
	uint64_t lacpdu_tx;
	uint64_t marker_rx;
	uint64_t marker_tx;
	uint64_t marker_response_rx;
	uint64_t marker_response_tx;
	uint64_t unknown_rx; /* another slow protocol */
	uint64_t illegal_rx; /* malformed, or an invalid subtype */
	uint64_t foreign_rx; /* meant for another system; ignored; also in lacpdu_rx */
	/* from a system other than lacp_partner; ignored; also in lacpdu_rx. */
	uint64_t stranger_rx;
	uint64_t looped_rx; /* our own; ignored; also in lacpdu_rx */
	uint64_t actor_churn;
	uint64_t partner_churn;
};
_Static_assert(sizeof(struct lacp_counters) == 104, "LACP counters");

struct lacp_port_state {
	struct lacp_port_config config;
	struct lacp_info actor;	  /* operational; state has the bits of Actor_Oper_Port_State */
	struct lacp_info partner; /* operational; all zero but LACP_TIMEOUT: no partner known */
	uint8_t used;
	uint8_t rx;	       /* enum lacp_rx_state */
	uint8_t periodic;      /* enum lacp_periodic_state */
	uint8_t mux;	       /* enum lacp_mux_state */
	uint8_t selected;      /* enum lacp_selected */
	uint8_t aggregator;    /* 1..64; 0: none */
	uint8_t actor_churn;   /* enum lacp_churn_state */
	uint8_t partner_churn; /* enum lacp_churn_state */
	uint8_t marker;	       /* enum lacp_marker_state */
	uint8_t fallback;      /* 1: carries traffic without a partner */
	uint8_t moved;	       /* port_moved, 6.4.8 */
	uint8_t ntt;	       /* 6.4.8 */
	uint8_t matched;       /* the partner's last PDU described us correctly */
	/* LACP_COLLECTING and LACP_DISTRIBUTING as last told by outputs->port. */
	uint8_t told;
	uint8_t responses; /* marker responses since response_window_ns */
	/* Its link is down because it was configured with LACP_LINK_STOPPED. */
	uint8_t stopped;
	uint8_t carried;  /* 1: it has distributed by LACP, and others have carried traffic since */
	uint8_t refusals; /* turns without getting in sync, since it was last in sync */
	/* 1 and the PDUs left to tell and repeat a change; 0: the partner has confirmed it. */
	uint8_t repeats;
	/* PDUs left to tell that the port has left, also for a passive or stopped port. */
	uint8_t farewell;
	uint16_t loop_port; /* our own port number heard here; 0: not looped */
	/* The last system heard other than lacp_partner; valid until stranger_ns. */
	uint8_t stranger[LACP_MAC_SIZE];
	uint32_t transaction; /* of the marker that waits for its response */
	/* The time of the last PDU that was not ignored, or else of link up. */
	uint64_t heard_ns;
	uint64_t current_while_ns;
	uint64_t periodic_ns;
	uint64_t wait_while_ns;
	uint64_t actor_churn_ns;
	uint64_t partner_churn_ns;
	uint64_t marker_ns;
	uint64_t fallback_ns; /* fallback is allowed from then on; 0: never */
	uint64_t loop_ns;
	uint64_t response_window_ns;
	/* when its aggregator was left because no partner attached; 0: never */
	uint64_t refused_ns;
	uint64_t live_ns; /* since when a partner is heard; 0: none is */
	/* Since when this port has been attached and the partner's in sync; 0: not so. */
	uint64_t in_sync_ns;
	/* Since when this port has been attached and the partner's not in sync; 0: not so. */
	uint64_t out_sync_ns;
	/*
	 * Since when it has ranked behind the others for being out of sync too long; 0: it does
	 * not.
	 */
	uint64_t behind_ns;
	/* Since when the partner has not collected although we are ready; 0: not so. */
	uint64_t unsettled_ns;
	/* Until then a system other than lacp_partner counts as heard here; 0: none does. */
	uint64_t stranger_ns;
	uint64_t sent_ns[LACP_TX_LIMIT]; /* the last PDUs, oldest first; 0: none */
	struct lacp_counters counters;
};
_Static_assert(sizeof(struct lacp_port_state) == 344, "LACP port state");

struct lacp_system_state {
	uint32_t version; /* LACP_STATE_VERSION */
	struct lacp_config config;
	uint32_t transaction;	   /* of the last marker sent */
	uint8_t active_aggregator; /* 0: none */
	uint8_t pad0[3];
	uint64_t yield_ns; /* until then the active aggregator counts as in sync once attached */
};
_Static_assert(sizeof(struct lacp_system_state) == 56, "LACP system state");

#endif
