/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that are one IP address, of either family. Called by options.c. */
#ifndef XBOND_OPTIONS_OPTION_HOST_H
#define XBOND_OPTIONS_OPTION_HOST_H

#include "options/options.h"

#define OPTION_HOST_VALUES "IPV4|IPV6|none"

/* "none" clears. Returns -EINVAL, with a line in err, for what is no address of a host. */
int option_host_parse(const struct option_spec *option, const char *text,
		      struct xbond_address *ret_host, struct err *err);
void option_host_format(const struct xbond_address *host, char *ret_text, size_t size);

#endif
