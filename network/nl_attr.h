/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of netlink attributes. Lengths are not trusted: an attribute that is too short for its
 * value, or a text without an end, counts as missing. So does NULL. Called by all files in
 * network that read messages.
 */
#ifndef XBOND_NETWORK_NL_ATTR_H
#define XBOND_NETWORK_NL_ATTR_H

#include <netlink/attr.h>
#include <stdbool.h>
#include <stdint.h>

uint32_t nl_attr_u32(const struct nlattr *attribute, uint32_t otherwise);
uint16_t nl_attr_u16(const struct nlattr *attribute, uint16_t otherwise);
uint8_t nl_attr_u8(const struct nlattr *attribute, uint8_t otherwise);
/* NULL: missing. It points into the message. */
const char *nl_attr_text(const struct nlattr *attribute);
bool nl_attr_is(const struct nlattr *attribute, const char *text);

#endif
