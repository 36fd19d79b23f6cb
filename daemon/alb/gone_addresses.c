/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/gone_addresses.h"

#include <linux/if_addr.h>
#include <string.h>

static bool gone_addresses_is(const struct gone_addresses *gone, unsigned int i, int family,
			      const uint8_t *bytes)
{
	return gone->list[i].family == family &&
	       !memcmp(gone->list[i].bytes, bytes, sizeof(gone->list[i].bytes));
}

void gone_addresses_add(struct gone_addresses *gone, const struct address *address)
{
	unsigned int i = gone->count++;

	gone->list[i].family = address->family;
	memcpy(gone->list[i].bytes, address->bytes, sizeof(gone->list[i].bytes));
}

void gone_addresses_drop(struct gone_addresses *gone, const struct address *address)
{
	for (unsigned int i = gone->count; i-- > 0;)
		if (gone_addresses_is(gone, i, address->family, address->bytes))
			gone->list[i] = gone->list[--gone->count];
}

/* DADFAILED: another host has it. */
static void gone_addresses_take(const struct address *address, void *arg)
{
	if (!(address->flags & IFA_F_DADFAILED))
		gone_addresses_drop(arg, address);
}

int gone_addresses_look(struct gone_addresses *gone, struct nl *nl)
{
	return gone->count ? address_visit(nl, gone_addresses_take, gone) : 0;
}

bool gone_addresses_have(const struct gone_addresses *gone, const struct xbond_client_key *key)
{
	for (unsigned int i = 0; i < gone->count; i++)
		if (gone_addresses_is(gone, i, key->family, key->own))
			return true;
	return false;
}
