/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a bond with `path direct` counts at present (XBOND_F_FORCE_COUNTED), in the words of show and
 * doctor. Goes by what the kernel says of the bond's device, in the order of
 * bond_forbids_direct(); what is left are filters.
 */
#ifndef XBOND_CLI_BASE_COUNTED_H
#define XBOND_CLI_BASE_COUNTED_H

#include "network/link.h"

/* link: NULL if the device is not in this network namespace. */
const char *counted_why(const struct link_info *link, bool is_captured);
/* The same for a caller that knows no more than the name, and perhaps may not see captures. */
const char *counted_why_now(const char *bond);

#endif
