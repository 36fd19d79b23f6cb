/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top: rates of bonds and slaves, on a screen that follows them, or once. Reads the pinned maps
 * only, so it works without bondd.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/top/top_once.h"
#include "cli/top/top_read.h"
#include "cli/top/top_screen.h"

#define INTERVAL_MIN_MS 100
#define INTERVAL_MAX_MS 3600000

static enum cli_exit top_take_interval(const struct cli *cli, const struct verb *verb,
				       unsigned int *ret_ms)
{
	const char *text = cli_flag(cli, verb, "--interval");
	double seconds;
	char *end;

	*ret_ms = 1000;
	if (!text)
		return CLI_DONE;
	seconds = strtod(text, &end);
	if (*end || end == text || !(seconds * 1000 >= INTERVAL_MIN_MS) ||
	    seconds * 1000 > INTERVAL_MAX_MS)
		return cli_usage(verb, "--interval takes seconds, 0.1 to 3600, not '%s'", text);
	*ret_ms = (unsigned int)(seconds * 1000 + 0.5);
	return CLI_DONE;
}

/* A user who may read none of the bonds gets the reason instead of a screen that repeats it. */
static const struct err *top_refusal(const struct top *top)
{
	for (size_t i = 0; i < top->bond_count; i++)
		if (top->bonds[i]->error_code != -EPERM && top->bonds[i]->error_code != -EACCES)
			return NULL;
	return top->bond_count ? &top->bonds[0]->error : NULL;
}

static enum cli_exit top_check_call(const struct cli *cli, const struct verb *verb)
{
	bool is_once = cli_flag(cli, verb, "--once");

	if (cli->json && !is_once)
		return cli_usage(verb, "-j needs --once");
	if (is_once || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return CLI_DONE;
	cli_say("top needs a terminal; use 'bondctl top --once'");
	return CLI_REFUSED;
}

static enum cli_exit top_run(const struct cli *cli, const struct verb *verb, struct top *top,
			     unsigned int interval_ms)
{
	struct err err;

	if (top_read(top, &err))
		return cli_refuse(&err);
	if (top_refusal(top))
		return cli_refuse(top_refusal(top));
	if (cli_flag(cli, verb, "--once"))
		return top_once(cli, top, interval_ms);
	return top_screen(cli, top, interval_ms);
}

enum cli_exit cmd_top(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct top top = { .bpf_dir = cli->paths.bpf_dir,
			   .run_dir = cli->paths.run_dir,
			   .only = argc ? argv[0] : NULL };
	unsigned int interval_ms;
	enum cli_exit status;

	setlocale(LC_CTYPE, "");
	status = top_take_interval(cli, verb, &interval_ms);
	if (status == CLI_DONE)
		status = top_check_call(cli, verb);
	if (status == CLI_DONE)
		status = top_run(cli, verb, &top, interval_ms);
	top_close(&top);
	return status;
}
