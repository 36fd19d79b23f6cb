/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/explain/predict_client.h"

#include <arpa/inet.h>
#include <string.h>

#include "bpf/flow_headers.h"
#include "cli/base/foretell.h"
#include "common/readings.h"
#include "common/slots.h"

#define CLIENTS_CONTEXT const struct captured

static inline long clients_load(CLIENTS_CONTEXT *captured, __u32 at, void *to, __u32 size)
{
	if (at > captured->size || size > captured->size - at)
		return -1;
	memcpy(to, captured->head + at, size);
	return 0;
}

/* A capture does not say which protocol a tag beside the packet had. */
static inline __be16 clients_tag(CLIENTS_CONTEXT *captured, __u16 *ret_vid)
{
	if (captured->vlan_tci < 0)
		return 0;
	*ret_vid = captured->vlan_tci & VLAN_VID_MASK;
	return htons(ETH_P_8021Q);
}

#include "bpf/clients_message.h"

static unsigned int predict_client_slot(const struct pins *pins, uint64_t told)
{
	uint64_t live = foretell_live(pins);

	if (told == pins->alb->bond_mac)
		return foretell_active_slot(pins);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(live, slot) && pins->alb->mac[slot] == told)
			return slot;
	return XBOND_NO_SLOT;
}

bool predict_client(const struct pins *pins, const struct captured *captured,
		    unsigned int *ret_slot)
{
	struct clients_message message = { 0 };
	struct xbond_client client;

	*ret_slot = XBOND_NO_SLOT;
	if (clients_read(captured, &message) || message.mac != pins->alb->bond_mac ||
	    message.reach != CLIENTS_ONE || clients_is_none(message.key.own) ||
	    clients_is_none(message.key.peer) || clients_is_same(message.key.own, message.key.peer))
		return false;
	if (client_table_find(pins->clients_fd, &message.key, &client))
		*ret_slot = predict_client_slot(pins, client.told);
	else if (client_table_excludes(pins->clients_fd, &message.key))
		return false;
	return true;
}
