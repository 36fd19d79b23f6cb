/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_drops.h"

#include "common/readings.h"

json_t *view_drops(const struct pins *pins, unsigned int slot)
{
	uint64_t packets[XBOND_DROPS];
	json_t *json = json_object();

	drops_read(pins, slot, packets);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		if (drops_is_of_bond(i) == (slot == XBOND_DROPS_OF_BOND))
			json_object_set_new(json, drops_name(i),
					    packets[i] == DROPS_UNKNOWN
						    ? json_null()
						    : json_integer((json_int_t)packets[i]));
	return json;
}
