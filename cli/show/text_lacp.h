/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the `lacp` objects of view/ as text for people. NULL, outside 802.3ad, prints nothing. */
#ifndef XBOND_CLI_SHOW_TEXT_LACP_H
#define XBOND_CLI_SHOW_TEXT_LACP_H

#include <jansson.h>

void text_lacp_bond(const json_t *lacp);
void text_lacp_slave(const json_t *lacp);

#endif
