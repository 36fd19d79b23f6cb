/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_clients.h"

#include <stdlib.h>

#include "common/mac.h"
#include "common/readings.h"

/* The active slave receives for bond0's address, whatever its own still is. */
static __u64 view_clients_told(const struct pins *pins, unsigned int slot)
{
	const struct xbond_bond *bond = pins->bond;

	return mac_word(slot == bond->active_slot ? bond->mac : pins->slaves[slot].mac);
}

void view_set_clients(json_t *bond, json_t *slaves, const struct pins *pins)
{
	struct client_entry *entries;
	int count = client_table_read(pins->clients_fd, &entries);
	size_t at = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!pins_is_member(pins, slot))
			continue;
		json_object_set_new(json_array_get(slaves, at++), "clients",
				    json_integer(client_table_count(
					    entries, count, view_clients_told(pins, slot))));
	}
	free(entries);
	json_object_set_new(bond, "clients_refused",
			    json_integer(pins->receivers ? pins->receivers->refused : 0));
}
