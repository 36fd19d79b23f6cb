/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic netlink, over a socket of nl_init_generic(): finds families and begins requests. */
#ifndef XBOND_NETWORK_GENL_H
#define XBOND_NETWORK_GENL_H

#include <stdint.h>

#include "network/nl.h"

/* A request with its head, for attributes and nl_call(); NULL: out of memory. */
struct nl_msg *genl_request(uint16_t family, uint8_t command);
/* -ENOENT: the kernel has no such family, or its module is not loaded. */
int genl_find_family(struct nl *nl, const char *name, uint16_t *ret_family);

#endif
