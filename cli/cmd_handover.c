/* SPDX-License-Identifier: GPL-2.0-or-later */
/* takeover and handback: bondd does it; here only the words are checked. */
#include "cli/base/pairs.h"

enum cli_exit cmd_handover(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct pairs pairs;
	enum cli_exit status;

	status = pairs_parse(verb, argc - 1, argv + 1, &pairs);
	if (status != CLI_DONE)
		return status;
	return cli_request_long(cli, verb->name, argv[0], pairs_json(&pairs));
}
