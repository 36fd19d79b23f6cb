/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/admin.h"

#include "common/set_down.h"

bool admin_is_down(const char *bond, const uint8_t mac[XBOND_MAC_SIZE])
{
	return set_down_is(bond, mac);
}
