/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IP addresses that devices of this host have no longer, until client_rounds.c forgets the clients
 * of those that no device has.
 */
#ifndef XBOND_DAEMON_ALB_GONE_ADDRESSES_H
#define XBOND_DAEMON_ALB_GONE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "network/ip.h"

#define GONE_ADDRESSES 32

struct gone_addresses {
	struct {
		int family;
		uint8_t bytes[16];
	} list[GONE_ADDRESSES];
	unsigned int count;
};

/* There must be room. */
void gone_addresses_add(struct gone_addresses *gone, const struct address *address);
void gone_addresses_drop(struct gone_addresses *gone, const struct address *address);
/* Drops those that some device in the namespace of nl has. Returns 0 or -errno. */
int gone_addresses_look(struct gone_addresses *gone, struct nl *nl);
/* Is it a client of one of them? */
bool gone_addresses_have(const struct gone_addresses *gone, const struct xbond_client_key *key);

#endif
