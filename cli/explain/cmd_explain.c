/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain: which slave a flow takes and why, from the pinned maps alone. The hash is the one of
 * bpf/flow.h. Which fields count is found out by changing each of them. With --pcap, the same for
 * the packets of a capture (explain_pcap.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/flow_words.h"
#include "bpf/slots.h"
#include "cli/base/foretell.h"
#include "cli/explain/explain.h"
#include "common/mac.h"
#include "common/mode.h"
#include "view/view_bond.h"
#include "view/view_json.h"

/* How the user can give each missing field; NULL: it need not be given. */
static const char *const whence[FLOW_FIELDS] = {
	[FLOW_DMAC] = "the neighbour's, which 'ip neigh' shows",
	[FLOW_LABEL] = "which a packet capture shows",
	[FLOW_SPORT] = "which 'ss' shows",
	[FLOW_DPORT] = "which 'ss' shows",
};

struct question {
	struct explain_call call;
	struct flow_rule rule;
};

static bool explain_counts(const struct question *question, enum flow_field field)
{
	return flow_packet_counts(&question->call.flow, &question->rule, field);
}

static struct flow_rule explain_rule(const struct pins *pins)
{
	return (struct flow_rule){ .policy = pins->settings->xmit_hash_policy,
				   .seed = pins->table->hash_seed,
				   .symmetric = pins->settings->symmetric,
				   .flow_label = pins->settings->ip6_flow_label };
}

/* By its MAC address, or by its IP address if that is not given. */
static bool explain_is_to_many(const struct question *question)
{
	const struct flow_packet *flow = &question->call.flow;

	if (question->call.text[FLOW_DMAC])
		return flow->dmac[0] & 1;
	if (flow->ip6)
		return flow->dst[0] == 0xff;
	return flow->dst[0] >> 4 == 0xe || !memcmp(flow->dst, "\xff\xff\xff\xff", 4);
}

/* Is it one that balance-tlb and balance-alb do not balance? */
static bool explain_is_active_ones(const struct question *question, const struct pins *pins)
{
	return foretell_is_tlb(pins) && explain_is_to_many(question);
}

/* Fills in the bond's settings, and the fields that the user left out. */
static int explain_complete(struct question *question, const struct pins *pins, struct err *err)
{
	question->rule = explain_rule(pins);
	if (!question->call.text[FLOW_SMAC])
		memcpy(question->call.flow.smac, pins->bond->mac, XBOND_MAC_SIZE);
	if (pins->table->selection != XBOND_SELECT_HASH ||
	    question->rule.policy == XBOND_POLICY_FLOW || explain_is_active_ones(question, pins))
		return 0;
	for (int field = 0; field < FLOW_FIELDS; field++)
		if (whence[field] && !question->call.text[field] && explain_counts(question, field))
			return err_set(err, EINVAL, "the slave depends on %s, too: give '%s', %s",
				       explain_words[field], explain_words[field], whence[field]);
	return 0;
}

static json_t *explain_slave_json(const struct pins *pins, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? json_value_text(pins->slaves[slot].name) : json_null();
}

static json_t *explain_fields_json(const struct question *question)
{
	json_t *fields = json_object();
	char mac[MAC_FORMAT_SIZE];

	for (int field = 0; field < FLOW_FIELDS; field++) {
		const char *text = question->call.text[field];

		if (!explain_counts(question, field))
			continue;
		if (!text)
			text = field == FLOW_SMAC ? mac_format(question->call.flow.smac, mac)
						  : "none";
		json_object_set_new(fields, explain_words[field], json_string(text));
	}
	return fields;
}

static json_t *explain_slaves_json(const struct pins *pins, uint64_t slots)
{
	json_t *names = json_array();

	slots_for_each (slots, slot)
		json_array_append_new(names, explain_slave_json(pins, slot));
	return names;
}

static json_t *explain_failed_json(const struct pins *pins, const struct forecast *forecast)
{
	return json_pack("{s:o, s:o, s:o}", "at_once", explain_slave_json(pins, forecast->at_once),
			 "settled", explain_slave_json(pins, forecast->settled), "unsure",
			 explain_slaves_json(pins, forecast->unsure));
}

/* Runs the bond's policy on a packet of the flow. Returns false if there is none. */
static bool explain_ask_policy(const struct question *question, const struct pins *pins,
			       uint64_t hash, struct policy_answer *ret_answer)
{
	struct captured packet;

	if (!view_policy_decides(pins))
		return false;
	flow_packet_make(&question->call.flow, &packet);
	return policy_answer(pins, &packet, hash, foretell_mask(pins), ret_answer);
}

static json_t *explain_policy_json(const struct pins *pins, const struct policy_answer *answer)
{
	static const char *const kinds[] = { "default", "hash", "slot" };
	json_t *slot = answer->slot < XBOND_MAX_SLAVES ? json_integer(answer->slot) : json_null();

	return json_pack("{s:o, s:s, s:o}", "name", view_policy(pins), "answer",
			 kinds[answer->kind], "slot", slot);
}

/* why: NULL or a sentence, for as long as a slave may transmit. */
static json_t *explain_why_json(const struct pins *pins, const char *why)
{
	if (!foretell_mask(pins))
		why = prediction_why[PREDICT_NO_SLAVE];
	return why ? json_string(why) : json_null();
}

/* For modes and policies where no hash of xbond decides. */
static json_t *explain_unhashed(const struct pins *pins, json_t *slave, json_t *failed,
				const char *why)
{
	return json_pack("{s:{}, s:n, s:n, s:b, s:o, s:o, s:o, s:n}", "fields", "hash", "bucket",
			 "detour", 0, "slave", slave, "if_failed", failed, "why",
			 explain_why_json(pins, why), "policy");
}

static json_t *explain_spread(const struct pins *pins, const char *why)
{
	return explain_unhashed(pins, json_null(), json_null(), why);
}

static json_t *explain_flowlet(const struct pins *pins, uint64_t hash)
{
	unsigned int slot = foretell_flowlet(pins, hash);

	return explain_unhashed(pins, explain_slave_json(pins, slot), json_null(),
				slot < XBOND_MAX_SLAVES
					? "flowlet_gap: the flow keeps its slave until it pauses"
					: "flowlet_gap: the flow pauses, and then takes the slave "
					  "that has recently sent the least");
}

static json_t *explain_by_hash(const struct question *question, const struct pins *pins,
			       uint64_t hash, const struct forecast *forecast)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)hash);
	return json_pack(
		"{s:o, s:s, s:i, s:b, s:o, s:o, s:o, s:n}", "fields", explain_fields_json(question),
		"hash", text, "bucket", (int)forecast->bucket, "detour", forecast->detour, "slave",
		explain_slave_json(pins, forecast->slot), "if_failed",
		explain_failed_json(pins, forecast), "why", explain_why_json(pins, NULL), "policy");
}

/* A slot that a policy answers comes before flowlet_gap, and its hash is that of the flowlet. */
static json_t *explain_answered(const struct question *question, const struct pins *pins,
				uint64_t hash, const struct policy_answer *answer)
{
	struct forecast forecast;

	if (answer->kind == POLICY_HASH)
		hash = answer->hash;
	if (answer->kind != POLICY_SLOT && pins->table->flags & XBOND_F_FLOWLETS)
		return explain_flowlet(pins, hash);
	forecast = answer->kind == POLICY_SLOT ? foretell_chosen(pins, answer->slot, hash)
					       : foretell(pins, hash);
	return explain_by_hash(question, pins, hash, &forecast);
}

/* xmit_hash_policy flow: nobody knows the hash, but a policy of the user may decide without it. */
static json_t *explain_socket(const struct question *question, const struct pins *pins)
{
	struct policy_answer answer;
	struct captured packet;
	json_t *json;

	flow_packet_make(&question->call.flow, &packet);
	if (!view_policy_decides(pins) ||
	    !policy_answer_unhashed(pins, &packet, foretell_mask(pins), &answer) ||
	    (answer.kind == POLICY_SLOT && !slots_have(foretell_live(pins), answer.slot)))
		return explain_spread(pins,
				      "policy flow uses the kernel's own hash of the connection, "
				      "which bondctl cannot compute");
	json = answer.kind == POLICY_HASH
		       ? explain_answered(question, pins, answer.hash, &answer)
		       : explain_unhashed(pins, explain_slave_json(pins, answer.slot), json_null(),
					  "the loaded policy chooses the slave");
	json_object_set_new(json, "policy", explain_policy_json(pins, &answer));
	return json;
}

/* For modes where a hash decides. */
static json_t *explain_hashed(const struct question *question, const struct pins *pins)
{
	struct policy_answer answer = { .kind = POLICY_DEFAULT };
	bool is_asked;
	uint64_t hash;
	json_t *json;

	if (question->rule.policy == XBOND_POLICY_FLOW)
		return explain_socket(question, pins);
	hash = flow_packet_hash(&question->call.flow, &question->rule);
	is_asked = explain_ask_policy(question, pins, hash, &answer);
	json = explain_answered(question, pins, hash, &answer);
	if (is_asked)
		json_object_set_new(json, "policy", explain_policy_json(pins, &answer));
	return json;
}

static json_t *explain_active(const struct pins *pins, const char *why)
{
	struct forecast forecast = foretell_active(pins);

	return explain_unhashed(pins, explain_slave_json(pins, forecast.slot),
				explain_failed_json(pins, &forecast), why);
}

static json_t *explain_answer(const struct question *question, const struct pins *pins)
{
	if (explain_is_active_ones(question, pins))
		return explain_active(
			pins, "broadcasts and multicasts are not balanced; the active slave "
			      "carries them");
	switch ((enum xbond_selection)pins->table->selection) {
	case XBOND_SELECT_TURNS:
		return explain_spread(pins, "packets take the slaves in turn, whatever their flow");
	case XBOND_SELECT_ACTIVE:
		return explain_active(pins, "the active slave carries everything");
	case XBOND_SELECT_HASH: return explain_hashed(question, pins);
	case XBOND_SELECT_ALL: break;
	}
	return explain_spread(pins, "every slave transmits every packet");
}

static json_t *explain_explanation(const struct question *question, const struct pins *pins)
{
	const struct option_spec *policy = option_at(OPT_XMIT_HASH_POLICY);
	struct option_value value = { .number = question->rule.policy };
	json_t *json = json_pack("{s:s, s:s}", "name", question->call.bond, "mode",
				 mode_name(pins->bond->mode));
	char text[32];

	option_format(policy, &value, text, sizeof(text));
	json_object_set_new(json, policy->name, json_string(text));
	json_object_set_new(json, "hash_seed", json_integer(question->rule.seed));
	json_object_set_new(json, "symmetric", json_boolean(question->rule.symmetric));
	json_object_update_new(json, explain_answer(question, pins));
	return json;
}

static const char *explain_text_at(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "none";
}

static void explain_print_unsure(const json_t *unsure)
{
	size_t i;
	json_t *name;

	printf(" at once; then it depends on whether the partner lets");
	json_array_foreach (unsure, i, name)
		printf("%s %s", i ? " or" : "",
		       json_is_string(name) ? json_string_value(name) : "none");
	printf(" transmit\n");
}

/* then: the event after which the other slave is in use for good. */
static void explain_print_failed(const json_t *json, const char *then)
{
	const json_t *failed = json_object_get(json, "if_failed");
	const char *at_once = explain_text_at(failed, "at_once"),
		   *settled = explain_text_at(failed, "settled");

	if (json_is_null(json_object_get(json, "slave")) || json_is_null(failed))
		return;
	printf("if %s failed: %s", explain_text_at(json, "slave"), at_once);
	if (json_array_size(json_object_get(failed, "unsure")))
		explain_print_unsure(json_object_get(failed, "unsure"));
	else if (strcmp(at_once, settled) != 0)
		printf(" at once, %s when bondd has %s\n", settled, then);
	else
		printf("\n");
}

/* Did a policy choose the slave itself? */
static bool explain_is_chosen(const json_t *json)
{
	return !strcmp(explain_text_at(json_object_get(json, "policy"), "answer"), "slot");
}

static void explain_print_policy(const json_t *policy)
{
	const json_t *slot = json_object_get(policy, "slot");

	if (json_is_null(policy))
		return;
	printf("answer  of policy %s: ", explain_text_at(policy, "name"));
	if (strcmp(explain_text_at(policy, "answer"), "slot"))
		printf("%s\n", explain_text_at(policy, "answer"));
	else if (json_is_null(slot))
		printf("a slot that no slave can have\n");
	else
		printf("slot %lld\n", (long long)json_integer_value(slot));
}

/* Of a hash. */
static void explain_print_slave(const json_t *json)
{
	const json_t *why = json_object_get(json, "why");

	printf("slave   %s", explain_text_at(json, "slave"));
	if (json_is_string(why))
		printf(": %s", json_string_value(why));
	if (json_is_true(json_object_get(json, "detour")))
		printf(" (the %s own may not transmit)",
		       explain_is_chosen(json) ? "policy's" : "bucket's");
	putchar('\n');
}

static void explain_print_hashed(const json_t *json)
{
	const json_t *value;
	const char *separator = "fields  ", *key;

	printf("policy  %s, seed %lld%s\n", explain_text_at(json, "xmit_hash_policy"),
	       (long long)json_integer_value(json_object_get(json, "hash_seed")),
	       json_is_true(json_object_get(json, "symmetric")) ? ", symmetric" : "");
	json_object_foreach ((json_t *)json_object_get(json, "fields"), key, value) {
		printf("%s%s %s", separator, key, json_string_value(value));
		separator = ", ";
	}
	printf("\nhash    %s, bucket %lld\n", explain_text_at(json, "hash"),
	       (long long)json_integer_value(json_object_get(json, "bucket")));
	explain_print_policy(json_object_get(json, "policy"));
	explain_print_slave(json);
	explain_print_failed(json, "redistributed its buckets");
}

static void explain_print_unhashed(const json_t *json)
{
	printf("mode    %s: %s\n", explain_text_at(json, "mode"), explain_text_at(json, "why"));
	explain_print_policy(json_object_get(json, "policy"));
	printf("slave   %s\n", explain_text_at(json, "slave"));
	explain_print_failed(json, "chosen another");
}

static enum cli_exit explain_print(const struct cli *cli, json_t *json)
{
	if (cli->json)
		return cli_print_json(json);
	if (json_is_null(json_object_get(json, "hash")))
		explain_print_unhashed(json);
	else
		explain_print_hashed(json);
	json_decref(json);
	return CLI_DONE;
}

static enum cli_exit explain_flow(const struct cli *cli, const struct verb *verb, int argc,
				  char **argv)
{
	struct question question = { 0 };
	enum cli_exit status;
	struct pins pins;
	struct err err;

	status = explain_take_words(verb, argc, argv, &question.call);
	if (status != CLI_DONE)
		return status;
	if (cli_open(cli, question.call.bond, &pins))
		return CLI_REFUSED;
	if (explain_complete(&question, &pins, &err))
		status = cli_refuse(&err);
	else
		status = explain_print(cli, explain_explanation(&question, &pins));
	pins_close(&pins);
	return status;
}

static enum cli_exit explain_file(const struct cli *cli, const struct verb *verb, int argc,
				  char **argv, const char *file)
{
	bool summary = cli_flag(cli, verb, "--summary");
	struct flow_rule rule;
	enum cli_exit status;
	struct pins pins;

	if (argc > 1)
		return cli_usage(verb, "unexpected '%s': with --pcap the flows are in the capture",
				 argv[1]);
	if (cli_open(cli, argv[0], &pins))
		return CLI_REFUSED;
	rule = explain_rule(&pins);
	status = explain_pcap(cli, &pins, &rule, argv[0], file, summary);
	pins_close(&pins);
	return status;
}

enum cli_exit cmd_explain(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const char *file = cli_flag(cli, verb, "--pcap");

	if (file)
		return explain_file(cli, verb, argc, argv, file);
	if (cli_flag(cli, verb, "--summary"))
		return cli_usage(verb, "--summary needs --pcap FILE");
	return explain_flow(cli, verb, argc, argv);
}
