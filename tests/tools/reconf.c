/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconf FROM TO: what is configured on the device FROM is configured on TO, as a takeover does it
 * (network/netconf.h). FROM leaves its master and goes down in between. Prints why it cannot be
 * done, or what was refused.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "network/link.h"
#include "network/netconf.h"

static int reconf_fail(const struct err *err)
{
	printf("%s\n", err->text);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct netconf_device pair = { argc == 3 ? (int)if_nametoindex(argv[1]) : 0,
				       argc == 3 ? (int)if_nametoindex(argv[2]) : 0 };
	struct netconf conf = { 0 };
	struct err err = { "" };
	struct nl nl;
	int r;

	if (!pair.from || !pair.to || nl_init(&nl))
		return 2;
	r = netconf_read(&nl, &pair, 1, &conf, &err);
	if (!r)
		r = link_set_master(&nl, pair.from, 0, &err);
	if (!r)
		r = link_set_flags(&nl, pair.from, 0, IFF_UP, &err);
	if (!r)
		r = netconf_apply(&nl, &conf, &pair, 1, NULL, &err);
	netconf_free(&conf);
	nl_done(&nl);
	return r ? reconf_fail(&err) : EXIT_SUCCESS;
}
