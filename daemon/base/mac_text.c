/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/mac_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void mac_random(uint8_t ret_mac[XBOND_MAC_SIZE])
{
	if (getrandom(ret_mac, XBOND_MAC_SIZE, 0) != XBOND_MAC_SIZE)
		abort();
	ret_mac[0] = (uint8_t)((ret_mac[0] & 0xfc) | 0x02);
}

const char *mac_text(const uint8_t mac[XBOND_MAC_SIZE], char ret_text[MAC_TEXT_SIZE])
{
	snprintf(ret_text, MAC_TEXT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return ret_text;
}
