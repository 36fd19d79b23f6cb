/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a captured packet if the bond sends it, by the pinned maps as they are now. */
#ifndef XBOND_CLI_EXPLAIN_PREDICT_H
#define XBOND_CLI_EXPLAIN_PREDICT_H

#include "cli/base/captured.h"
#include "common/pins.h"

enum prediction_kind {
	PREDICT_SLAVE,
	PREDICT_EVERY,	    /* every slave sends it */
	PREDICT_TURN,	    /* the slave whose turn it is */
	PREDICT_PAUSES,	    /* flowlet_gap: the load decides when the flow pauses */
	PREDICT_NEW_CLIENT, /* balance-alb: a neighbour that has no slave yet */
	PREDICT_SOCKET,	    /* policy flow: the kernel's own hash decides */
	PREDICT_CUT,	    /* what decides is not in the capture */
	PREDICT_NO_DEST,
	PREDICT_NO_SLAVE, /* none may transmit */
	PREDICT_RECEIVED,
	PREDICT_OF_SLAVE,    /* the slave's own, such as an LACPDU */
	PREDICT_NO_ETHERNET, /* said by the caller */
	PREDICT_KINDS,
};

/* Why there is no single slave; NULL for PREDICT_SLAVE. */
extern const char *const prediction_why[PREDICT_KINDS];

struct prediction {
	enum prediction_kind kind;
	unsigned int slot; /* XBOND_NO_SLOT unless PREDICT_SLAVE */
	int bucket;	   /* -1: no hash decided */
};

struct flow_rule;

struct prediction predict(const struct pins *pins, const struct flow_rule *rule,
			  const struct captured *captured);

#endif
