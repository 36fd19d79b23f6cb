/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * create and delete: checked here as far as that is possible without the bond, then done by bondd.
 */
#include "cli/base/pairs.h"

enum cli_exit cmd_create(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct pairs pairs;
	enum cli_exit status;
	struct err err;

	status = pairs_parse(verb, argc - 1, argv + 1, &pairs);
	if (status != CLI_DONE)
		return status;
	if (option_set_check_mode(&pairs.set, option_initial(option_at(OPT_MODE)).number, &err))
		return cli_wrong(&err);
	return cli_request(cli, "create", argv[0], NULL, pairs_json(&pairs));
}

enum cli_exit cmd_delete(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	(void)verb;
	(void)argc;
	return cli_request(cli, "delete", argv[0], NULL, NULL);
}
