/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate: the command line. Without BOND it needs neither a bond nor permissions. With BOND it
 * begins with the slaves, weights and rule of the bond, of which flags change some.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/simulate/simulate.h"
#include "common/slots.h"
#include "options/options.h"

#define MOST_FLOWS 100000000
#define DEFAULT_FLOWS 10000
#define DEFAULT_SLAVES 2

static int simulate_option(const struct cli *cli, const struct verb *verb, const char *flag,
			   enum option_id id, uint32_t *number, struct err *err)
{
	const char *text = cli_flag(cli, verb, flag);
	struct option_value value;
	int r;

	if (!text)
		return 0;
	r = option_parse(option_at(id), text, &value, err);
	if (!r)
		*number = value.number;
	return r;
}

static int simulate_take_rule(struct simulate *simulate, const struct cli *cli,
			      const struct verb *verb, struct err *err)
{
	struct flow_rule *rule = &simulate->rule;
	uint32_t policy = rule->policy, seed = rule->seed;
	int r = simulate_option(cli, verb, "--policy", OPT_XMIT_HASH_POLICY, &policy, err);

	if (!r)
		r = simulate_option(cli, verb, "--seed", OPT_HASH_SEED, &seed, err);
	if (r)
		return r;
	rule->policy = policy;
	rule->seed = seed;
	if (cli_flag(cli, verb, "--symmetric"))
		rule->symmetric = 1;
	if (policy == XBOND_POLICY_FLOW)
		return err_set(
			err, EINVAL,
			"policy flow hashes what the kernel keeps for each connection, which "
			"no packet shows; give another --policy");
	return 0;
}

/* "1,2,10": one for each slot of mask, in their order. */
static int simulate_take_weights(struct simulate *simulate, const char *text, struct err *err)
{
	unsigned int slot = 0;
	char *end;

	simulate->is_weighed = true;
	for (const char *at = text;; at = end + 1, slot++) {
		unsigned long weight = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;

		while (slot < XBOND_MAX_SLAVES && !slots_have(simulate->mask, slot))
			slot++;
		if (!weight || weight > 65535 || (*end && *end != ','))
			return err_set(err, EINVAL,
				       "--weights: '%s' is not allowed; allowed: numbers of "
				       "1..65535 with commas between them",
				       text);
		if (slot >= XBOND_MAX_SLAVES)
			break;
		simulate->weight[slot] = simulate->member_weight[slot] = (uint32_t)weight;
		if (!*end)
			break;
	}
	if (slot < XBOND_MAX_SLAVES && !(simulate->mask >> slot >> 1))
		return 0;
	return err_set(err, EINVAL, "--weights: there are %d slaves, so give %d numbers",
		       __builtin_popcountll(simulate->mask), __builtin_popcountll(simulate->mask));
}

static unsigned int simulate_count_weights(const char *text)
{
	unsigned int count = 1;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

/* Slaves that only exist here. */
static void simulate_invent(struct simulate *simulate, unsigned int slaves)
{
	static const uint8_t mac[] = { 0x02, 0, 0, 0, 0, 0x01 };

	simulate->mask = slaves < XBOND_MAX_SLAVES ? slots_bit(slaves) - 1 : UINT64_MAX;
	simulate->rule.seed = 1;
	memcpy(simulate->mac, mac, sizeof(mac));
	for (unsigned int slot = 0; slot < slaves; slot++) {
		simulate->weight[slot] = simulate->member_weight[slot] = 1;
		snprintf(simulate->name[slot], XBOND_NAME_SIZE, "slave%u", slot);
	}
	memset(&simulate->table, XBOND_NO_SLOT, sizeof(simulate->table));
	simulate->is_weighed = true;
	for (unsigned int slot = 0; slot < slaves; slot++)
		simulate->failure[slot].at_once = simulate->failure[slot].mask =
			simulate->mask & ~slots_bit(slot);
}

static enum cli_exit simulate_run(struct simulate *simulate, const struct cli *cli)
{
	struct err err;
	int r = 0;

	simulate_share_out(simulate);
	if (simulate->file)
		r = simulate_read(simulate, &err);
	else
		simulate_generate(simulate);
	if (!r || simulate->total.packets)
		simulate_print(simulate, cli->json);
	return r ? cli_refuse(&err) : CLI_DONE;
}

static enum cli_exit simulate_prepare(struct simulate *simulate, const struct cli *cli,
				      const struct verb *verb)
{
	const char *weights = cli_flag(cli, verb, "--weights");
	unsigned long long slaves = weights ? simulate_count_weights(weights) : DEFAULT_SLAVES;
	unsigned long long flows = DEFAULT_FLOWS;
	struct err err;
	int r = 0;

	if (cli_number(cli, verb, "--slaves", XBOND_MAX_SLAVES, &slaves) != CLI_DONE ||
	    cli_number(cli, verb, "--flows", MOST_FLOWS, &flows) != CLI_DONE)
		return CLI_USAGE;
	simulate->flows = flows;
	if (simulate->bond && simulate_take_bond(simulate, cli->paths.bpf_dir, &err))
		return cli_refuse(&err);
	if (!simulate->bond)
		simulate_invent(simulate, slaves > XBOND_MAX_SLAVES ? XBOND_MAX_SLAVES
								    : (unsigned int)slaves);
	if (weights)
		r = simulate_take_weights(simulate, weights, &err);
	if (!r)
		r = simulate_take_rule(simulate, cli, verb, &err);
	return r ? cli_wrong(&err) : CLI_DONE;
}

enum cli_exit cmd_simulate(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	static struct simulate simulate; /* large for a stack */
	enum cli_exit status;

	memset(&simulate, 0, sizeof(simulate));
	simulate.bond = argc ? argv[0] : NULL;
	simulate.file = cli_flag(cli, verb, "--pcap");
	if (simulate.bond && cli_flag(cli, verb, "--slaves"))
		return cli_usage(verb, "--slaves is for a simulation without a bond");
	if (simulate.file && cli_flag(cli, verb, "--flows"))
		return cli_usage(verb, "--flows makes flows; with --pcap they are in the capture");
	status = simulate_prepare(&simulate, cli, verb);
	return status == CLI_DONE ? simulate_run(&simulate, cli) : status;
}
