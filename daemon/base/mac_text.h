/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XBOND_DAEMON_BASE_MAC_TEXT_H
#define XBOND_DAEMON_BASE_MAC_TEXT_H

#include <stdint.h>

#include "bpf/abi.h"

#define MAC_TEXT_SIZE 18

/* Random, unicast, locally administered (IEEE 802-2014, 8.4). */
void mac_random(uint8_t ret_mac[XBOND_MAC_SIZE]);
/* 02:00:5e:10:00:00 */
const char *mac_text(const uint8_t mac[XBOND_MAC_SIZE], char ret_text[MAC_TEXT_SIZE]);

#endif
