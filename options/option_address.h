/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that are lists of IP addresses. Called by options.c, and by those who write a list in
 * parts. A list is as in struct xbond_bond: it ends with the first address that is zero.
 */
#ifndef XBOND_OPTIONS_OPTION_ADDRESS_H
#define XBOND_OPTIONS_OPTION_ADDRESS_H

#include "options/options.h"

/* What is allowed, in words. */
const char *option_address_values(const struct option_spec *option);
/* The bytes of one address of such a list: 4 or 16. */
size_t option_address_size(const struct option_spec *option);
unsigned int option_address_count(const struct option_value *value);
/* The i-th address as text. */
const char *option_address_at(const struct option_spec *option, const struct option_value *value,
			      unsigned int i, char ret_text[OPTION_ADDRESS_SIZE]);

/* Why no host has this address; NULL: one may. An IPv4 address has zeroes behind it. */
const char *option_address_why_not(int family, const uint8_t address[16]);

/*
 * Adds the addresses of a text, which are separated by commas, to a list; "none" adds nothing.
 * Returns -EINVAL, with a line in err, for what can be no target of a monitor, for an address that
 * the list already has, and for one too many.
 */
int option_address_add(const struct option_spec *option, const char *text,
		       struct option_value *value, struct err *err);
/* "none" for an empty list. */
void option_address_format(const struct option_spec *option, const struct option_value *value,
			   char *ret_text, size_t size);

#endif
