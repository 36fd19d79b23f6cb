/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftables, only for reading. */
#ifndef XBOND_NETWORK_NFT_H
#define XBOND_NETWORK_NFT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is there a chain at the device's ingress (family netdev or inet)? False if this cannot be found
 * out.
 */
bool nft_has_ingress(const char *device);
/*
 * A number that changes with every change of the rules; 0 if it cannot be found out. It takes one
 * small request.
 */
uint32_t nft_generation(void);

#endif
