/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftables, only to see what is there. */
#ifndef XBOND_DAEMON_NET_NFT_H
#define XBOND_DAEMON_NET_NFT_H

#include <stdbool.h>
#include <stdint.h>

/* Is there a chain at the device's ingress (family netdev or inet)? False where nobody can tell. */
bool nft_has_ingress(const char *device);
/* A number that every change of the rules changes; 0 where nobody can tell. One small request. */
uint32_t nft_generation(void);

#endif
