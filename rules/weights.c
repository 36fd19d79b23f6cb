/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/weights.h"

#include "common/slots.h"

static bool weights_speeds_known(const struct pins *pins, uint64_t slots)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot) && slots_have(slots, slot) &&
		    !pins->slaves[slot].speed_mbps)
			return false;
	return true;
}

void weights_of(const struct pins *pins, uint64_t owners,
		uint32_t ret_member_weight[XBOND_MAX_SLAVES], uint32_t ret_weight[XBOND_MAX_SLAVES])
{
	bool by_speed = weights_speeds_known(pins, owners);

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		uint32_t speed = by_speed ? pins->slaves[slot].speed_mbps : 1;
		uint32_t weight = pins->settings->weight[slot] ? pins->settings->weight[slot]
				  : speed		       ? speed
							       : 1;

		if (!pins_is_member(pins, slot))
			continue;
		ret_member_weight[slot] = weight;
		ret_weight[slot] = slots_have(owners, slot) ? weight : 0;
	}
}
