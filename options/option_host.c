/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options/option_address.h"

int option_host_parse(const struct option_spec *option, const char *text,
		      struct xbond_address *ret_host, struct err *err)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	const char *why;

	if (!strcmp(text, "none"))
		return 0;
	if (inet_pton(family, text, ret_host->bytes) != 1)
		return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", option->name,
			       text, OPTION_HOST_VALUES);
	why = option_address_why_not(family, ret_host->bytes);
	if (why)
		return err_set(err, EINVAL, "%s: %s is %s; allowed: %s", option->name, text, why,
			       OPTION_HOST_VALUES);
	ret_host->family = (__u32)family;
	return 0;
}

void option_host_format(const struct xbond_address *host, char *ret_text, size_t size)
{
	bool known = host->family == AF_INET || host->family == AF_INET6;

	if (!known || !inet_ntop((int)host->family, host->bytes, ret_text, (socklen_t)size))
		snprintf(ret_text, size, "none");
}
