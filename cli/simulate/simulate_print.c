/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/base/cli.h"
#include "cli/simulate/simulate.h"
#include "common/slots.h"
#include "options/options.h"
#include "view/json_value.h"

static const char *const simulate_other_why[SIMULATE_OTHERS] = {
	[SIMULATE_RECEIVED] = "received, not sent",
	[SIMULATE_CUT] = "truncated before the fields that are hashed; capture more of each packet",
	[SIMULATE_NO_DEST] =
		"a cooked capture lacks the destination MAC address, which decides here",
	[SIMULATE_NO_ETHERNET] = "not a packet of an Ethernet device",
	[SIMULATE_ACTIVE] = "not balanced in this mode",
};

static double simulate_part(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double simulate_share_by_weight(const struct simulate *simulate, unsigned int slot)
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

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(left, slot) && gets[slot].bytes > gets[busiest].bytes)
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

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(slots, slot))
			json_array_append_new(names, json_value_text(simulate->name[slot]));
	return names;
}

static json_t *simulate_failure_json(const struct simulate *simulate, unsigned int failed)
{
	const struct simulate_failure *failure = &simulate->failure[failed];
	json_t *slaves = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(failure->mask, slot))
			json_array_append_new(
				slaves, json_pack("{s:o, s:o}", "name",
						  json_value_text(simulate->name[slot]), "gets",
						  simulate_sum_json(&failure->gets[slot],
								    &simulate->total)));
	return json_pack("{s:o, s:o, s:o, s:o}", "moved",
			 simulate_sum_json(&failure->moved, &simulate->total), "moved_again",
			 simulate_sum_json(&failure->moved_again, &simulate->total), "slaves",
			 slaves, "unsure", simulate_names_json(simulate, failure->unsure));
}

static json_t *simulate_slaves_json(const struct simulate *simulate)
{
	json_t *slaves = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(simulate->mask, slot))
			json_array_append_new(
				slaves,
				json_pack("{s:o, s:I, s:f, s:o, s:o}", "name",
					  json_value_text(simulate->name[slot]), "weight",
					  (json_int_t)simulate->weight[slot], "share_by_weight",
					  simulate_share_by_weight(simulate, slot), "gets",
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
		"{s:o, s:o, s:s, s:I, s:b, s:b, s:I, s:I, s:I, s:b, s:o, s:o}", "name",
		simulate->bond ? json_value_text(simulate->bond) : json_null(), "file",
		simulate->file ? json_value_text(simulate->file) : json_null(), "xmit_hash_policy",
		simulate_policy(simulate, policy, sizeof(policy)), "hash_seed",
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
	       simulate->weight[slot], 100 * simulate_share_by_weight(simulate, slot),
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

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!slots_have(simulate->failure[failed].unsure, slot))
			continue;
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
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(simulate->mask, slot))
			simulate_print_slave(simulate, slot);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		simulate_print_unsure(simulate, slot);
	for (int other = 0; other < SIMULATE_OTHERS; other++)
		if (simulate->other[other])
			printf("%llu packets: %s\n", (unsigned long long)simulate->other[other],
			       simulate_other_why[other]);
}

void simulate_print(const struct simulate *simulate, bool json)
{
	if (json)
		simulate_print_json(simulate);
	else
		simulate_print_text(simulate);
}
