/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests by generic netlink: a family's number, and messages to it. Called by the files in
 * network that speak to a family.
 */
#ifndef XBOND_NETWORK_GENL_H
#define XBOND_NETWORK_GENL_H

#include <stdint.h>

#include "network/nl.h"

struct nl_msg *genl_new_request(uint16_t family, uint8_t command);
/* -ENOENT: the kernel does not have the family. */
int genl_find_family(struct nl *nl, const char *name, uint16_t *ret_family);

#endif
