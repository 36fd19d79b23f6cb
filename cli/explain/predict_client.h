/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-alb: the slave of an ARP or neighbour message that tells a neighbour which slave's
 * address it is to send to (bpf/send_tlb.h), by the pinned map of clients.
 */
#ifndef XBOND_CLI_EXPLAIN_PREDICT_CLIENT_H
#define XBOND_CLI_EXPLAIN_PREDICT_CLIENT_H

#include <stdbool.h>

#include "cli/base/captured.h"
#include "common/pins.h"

/*
 * Is it such a message? ret_slot: of the client; XBOND_NO_SLOT: it is a new one, or gets another
 * slave, so the next in turn.
 */
bool predict_client(const struct pins *pins, const struct captured *captured,
		    unsigned int *ret_slot);

#endif
