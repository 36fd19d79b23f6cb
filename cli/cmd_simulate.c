/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate: the command line, and the answer as text and JSON. Without BOND it needs neither a bond
 * nor permissions. With BOND it begins with the slaves, weights and rule of the bond, of which
 * flags change some.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "cli/verb_parts.h"
#include "options/options.h"
#include "view/view_json.h"

/* The answer. */

static const char *const simulate_other_why[SIMULATE_OTHERS] = {
	[SIMULATE_RECEIVED] = CAPTURED_WHY_RECEIVED,
	[SIMULATE_CUT] = "truncated before the fields that are hashed; capture more of each packet",
	[SIMULATE_NO_DEST] = CAPTURED_WHY_NO_DEST,
	[SIMULATE_NO_ETHERNET] = CAPTURED_WHY_NO_ETHERNET,
	[SIMULATE_ACTIVE] = "not balanced in this mode",
};

static double simulate_part(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double simulate_share_due(const struct simulate *simulate, unsigned int slot)
{
	uint64_t sum = 0;

	for (unsigned int other = 0; other < XBOND_MAX_SLAVES; other++)
		sum += simulate->weight[other];
	return simulate_part(simulate->weight[slot], sum);
}

static const char *simulate_policy(const struct simulate *simulate, char *text, size_t size)
{
	struct option_value value = { .number = simulate->rule.policy };

	option_format(option_at(OPT_XMIT_HASH_POLICY), &value, text, size);
	return text;
}

/* Of those that transmit then, the slot with the most bytes. */
static unsigned int simulate_busiest(const struct simulate *simulate, unsigned int failed)
{
	const struct simulate_sum *gets = simulate->failure[failed].gets;
	uint64_t left = simulate->failure[failed].mask;
	unsigned int busiest = (unsigned int)__builtin_ctzll(left);

	slots_for_each (left, slot)
		if (gets[slot].bytes > gets[busiest].bytes)
			busiest = slot;
	return busiest;
}

static json_t *simulate_sum_json(const struct simulate_sum *sum, const struct simulate_sum *total)
{
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f}", "flows", (json_int_t)sum->flows,
			 "packets", (json_int_t)sum->packets, "bytes", (json_int_t)sum->bytes,
			 "share_of_flows", simulate_part(sum->flows, total->flows),
			 "share_of_packets", simulate_part(sum->packets, total->packets),
			 "share_of_bytes", simulate_part(sum->bytes, total->bytes));
}

static json_t *simulate_names_json(const struct simulate *simulate, uint64_t slots)
{
	json_t *names = json_array();

	slots_for_each (slots, slot)
		json_array_append_new(names, json_value_text(simulate->name[slot]));
	return names;
}

static json_t *simulate_failure_json(const struct simulate *simulate, unsigned int failed)
{
	const struct simulate_failure *failure = &simulate->failure[failed];
	json_t *slaves = json_array();

	slots_for_each (failure->mask, slot)
		json_array_append_new(
			slaves,
			json_pack("{s:o, s:o}", "name", json_value_text(simulate->name[slot]),
				  "gets",
				  simulate_sum_json(&failure->gets[slot], &simulate->total)));
	return json_pack("{s:o, s:o, s:o, s:o}", "moved",
			 simulate_sum_json(&failure->moved, &simulate->total), "moved_again",
			 simulate_sum_json(&failure->moved_again, &simulate->total), "slaves",
			 slaves, "unsure", simulate_names_json(simulate, failure->unsure));
}

static json_t *simulate_slaves_json(const struct simulate *simulate)
{
	json_t *slaves = json_array();

	slots_for_each (simulate->mask, slot)
		json_array_append_new(
			slaves, json_pack("{s:o, s:I, s:f, s:o, s:o}", "name",
					  json_value_text(simulate->name[slot]), "weight",
					  (json_int_t)simulate->weight[slot], "share_due",
					  simulate_share_due(simulate, slot), "gets",
					  simulate_sum_json(&simulate->sum[slot], &simulate->total),
					  "if_failed",
					  simulate->failure[slot].mask
						  ? simulate_failure_json(simulate, slot)
						  : json_null()));
	return slaves;
}

static json_t *simulate_others_json(const struct simulate *simulate)
{
	json_t *others = json_array();

	for (int other = 0; other < SIMULATE_OTHERS; other++)
		if (simulate->other[other])
			json_array_append_new(
				others, json_pack("{s:s, s:I}", "why", simulate_other_why[other],
						  "packets", (json_int_t)simulate->other[other]));
	return others;
}

static void simulate_print_json(const struct simulate *simulate)
{
	char policy[32];

	cli_print_json(json_pack(
		"{s:o, s:o, s:s, s:I, s:b, s:b, s:I, s:I, s:I, s:b, s:o, s:o}", "bond",
		json_value_text(simulate->bond), "file", json_value_text(simulate->file),
		"xmit_hash_policy", simulate_policy(simulate, policy, sizeof(policy)), "hash_seed",
		(json_int_t)simulate->rule.seed, "symmetric", simulate->rule.symmetric,
		"ip6_flow_label", simulate->rule.flow_label, "flows",
		(json_int_t)simulate->total.flows, "packets", (json_int_t)simulate->total.packets,
		"bytes", (json_int_t)simulate->total.bytes, "all_flows_counted",
		!simulate->flows_lack, "slaves", simulate_slaves_json(simulate), "others",
		simulate_others_json(simulate)));
}

static void simulate_print_slave(const struct simulate *simulate, unsigned int slot)
{
	const struct simulate_sum *sum = &simulate->sum[slot], *total = &simulate->total;
	char name[XBOND_NAME_SIZE];

	printf("%-15s %6u %8.1f%% %6.1f%% %7.1f%% %6.1f%%", cli_name(simulate->name[slot], name),
	       simulate->weight[slot], 100 * simulate_share_due(simulate, slot),
	       100 * simulate_part(sum->flows, total->flows),
	       100 * simulate_part(sum->packets, total->packets),
	       100 * simulate_part(sum->bytes, total->bytes));
	if (simulate->failure[slot].mask) {
		const struct simulate_failure *failure = &simulate->failure[slot];
		unsigned int busiest = simulate_busiest(simulate, slot);

		printf(" %9.1f%%  %s %.1f%%",
		       100 * simulate_part(failure->moved.flows, total->flows),
		       cli_name(simulate->name[busiest], name),
		       100 * simulate_part(failure->gets[busiest].bytes, total->bytes));
	}
	putchar('\n');
}

static bool simulate_has_failures(const struct simulate *simulate)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (simulate->failure[slot].mask)
			return true;
	return false;
}

static void simulate_print_unsure(const struct simulate *simulate, unsigned int failed)
{
	char name[XBOND_NAME_SIZE];

	slots_for_each (simulate->failure[failed].unsure, slot) {
		printf("if %s failed: ", cli_name(simulate->name[failed], name));
		printf("%s is counted in, but its partner may not let it transmit\n",
		       cli_name(simulate->name[slot], name));
	}
}

static void simulate_print_text(const struct simulate *simulate)
{
	const struct simulate_sum *total = &simulate->total;
	char policy[32];

	printf("%s, seed %u%s: %s%llu flows, %llu packets, %llu bytes\n",
	       simulate_policy(simulate, policy, sizeof(policy)), simulate->rule.seed,
	       simulate->rule.symmetric ? ", symmetric" : "", simulate->flows_lack ? ">" : "",
	       (unsigned long long)total->flows, (unsigned long long)total->packets,
	       (unsigned long long)total->bytes);
	printf("%-15s %6s %9s %7s %8s %7s%s\n", "slave", "weight", "by weight", "flows", "packets",
	       "bytes", simulate_has_failures(simulate) ? "  if failed  busiest then" : "");
	slots_for_each (simulate->mask, slot)
		simulate_print_slave(simulate, slot);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		simulate_print_unsure(simulate, slot);
	for (int other = 0; other < SIMULATE_OTHERS; other++)
		if (simulate->other[other])
			printf("%llu packets: %s\n", (unsigned long long)simulate->other[other],
			       simulate_other_why[other]);
}

static void simulate_print(const struct simulate *simulate, bool json)
{
	if (json)
		simulate_print_json(simulate);
	else
		simulate_print_text(simulate);
}

/* The command line. */

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
		return err_set(err, EINVAL,
			       "policy flow uses the kernel's own hash of each connection, "
			       "which is not in a packet; give another --policy");
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
