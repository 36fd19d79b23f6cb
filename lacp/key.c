/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys (6.3.5) in the form of kernel bonding: bit 0 duplex, bits 1-5 a code of the speed, bits 6-15
 * the user's ad_user_port_key; and which ports may speak LACP at all. Called by actor.c and the
 * Receive machine.
 */
#include "lacp/machines.h"

#define OTHER_SPEED 31

/* The index is the code. 0 stands for an unknown speed. */
static const uint32_t speeds_mbps[] = {
	0,     1,     10,    100,   1000,   2500,   5000,   10000,  14000, 20000,
	25000, 40000, 50000, 56000, 100000, 200000, 400000, 800000, 80000,
};

static unsigned int key_speed_code(uint32_t speed_mbps)
{
	for (unsigned int code = 0; code < sizeof(speeds_mbps) / sizeof(*speeds_mbps); code++)
		if (speeds_mbps[code] == speed_mbps)
			return code;
	return OTHER_SPEED;
}

/*
 * Half duplex is excluded (6.1.1). A virtual NIC that does not know its speed does not know its
 * duplex either, whatever it says.
 */
bool lacp_enabled(const struct lacp_port_config *config)
{
	return config->duplex != LACP_DUPLEX_HALF || !config->speed_mbps;
}

uint16_t lacp_key(const struct lacp_port_config *config, uint16_t user_key)
{
	unsigned int duplex = lacp_enabled(config);

	return (uint16_t)(user_key << 6 | key_speed_code(config->speed_mbps) << 1 | duplex);
}
