/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MAC addresses: as users write and read them (02:00:5e:10:00:00), random, none. */
#ifndef XBOND_COMMON_MAC_H
#define XBOND_COMMON_MAC_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

#define MAC_FORMAT_SIZE 18

/*
 * Accepts six pairs of hexadecimal digits with colons between them and nothing else; otherwise
 * returns -EINVAL.
 */
int mac_parse(const char *text, uint8_t ret_mac[XBOND_MAC_SIZE]);
/* Returns ret_text. */
const char *mac_format(const uint8_t mac[XBOND_MAC_SIZE], char ret_text[MAC_FORMAT_SIZE]);
/* Makes a random one: unicast, locally administered (IEEE 802-2014, 8.4). */
void mac_random(uint8_t ret_mac[XBOND_MAC_SIZE]);
/* Is it all zero, which stands for none and for unknown? */
bool mac_is_zero(const uint8_t mac[XBOND_MAC_SIZE]);
/* Of a virtual router (VRRP), which another host may have the next moment. */
bool mac_is_of_router(const uint8_t mac[XBOND_MAC_SIZE]);
bool mac_is_same(const uint8_t a[XBOND_MAC_SIZE], const uint8_t b[XBOND_MAC_SIZE]);
/* As the programs keep it: its bytes in memory, then two of zero. */
uint64_t mac_word(const uint8_t mac[XBOND_MAC_SIZE]);

#endif
