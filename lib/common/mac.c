/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/mac.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STEP 3 /* two digits and a colon, or the end */

static bool mac_is_mac(const char *text)
{
	if (strlen(text) != XBOND_MAC_SIZE * STEP - 1)
		return false;
	for (int at = 0; at < XBOND_MAC_SIZE * STEP - 1; at++)
		if (at % STEP == STEP - 1 ? text[at] != ':' : !isxdigit((unsigned char)text[at]))
			return false;
	return true;
}

int mac_parse(const char *text, uint8_t ret_mac[XBOND_MAC_SIZE])
{
	if (!mac_is_mac(text))
		return -EINVAL;
	for (int i = 0; i < XBOND_MAC_SIZE; i++)
		ret_mac[i] = (uint8_t)strtoul(text + i * STEP, NULL, 16);
	return 0;
}

const char *mac_format(const uint8_t mac[XBOND_MAC_SIZE], char ret_text[MAC_FORMAT_SIZE])
{
	snprintf(ret_text, MAC_FORMAT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return ret_text;
}

void mac_random(uint8_t ret_mac[XBOND_MAC_SIZE])
{
	if (getrandom(ret_mac, XBOND_MAC_SIZE, 0) != XBOND_MAC_SIZE)
		abort();
	ret_mac[0] = (uint8_t)((ret_mac[0] & 0xfc) | 0x02);
}

uint64_t mac_word(const uint8_t mac[XBOND_MAC_SIZE])
{
	uint64_t word = 0;

	memcpy(&word, mac, XBOND_MAC_SIZE);
	return word;
}

bool mac_is_of_router(const uint8_t mac[XBOND_MAC_SIZE])
{
	static const uint8_t prefix[] = { 0x00, 0x00, 0x5e, 0x00 };

	return !memcmp(mac, prefix, sizeof(prefix)) && (mac[4] == 1 || mac[4] == 2);
}

bool mac_is_same(const uint8_t a[XBOND_MAC_SIZE], const uint8_t b[XBOND_MAC_SIZE])
{
	return !memcmp(a, b, XBOND_MAC_SIZE);
}

bool mac_is_zero(const uint8_t mac[XBOND_MAC_SIZE])
{
	static const uint8_t zero[XBOND_MAC_SIZE];

	return mac_is_same(mac, zero);
}
