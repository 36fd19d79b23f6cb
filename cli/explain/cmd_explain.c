/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain: which slave a flow takes and why, from the pinned maps alone. The hash is the one of
 * bpf/flow.h. Which fields count is found out by changing each of them. With --pcap, the same for
 * the packets of a capture (explain_pcap.c).
 */
#include <errno.h>
#include <string.h>

#include "bpf/flow_words.h"
#include "bpf/slots.h"
#include "cli/base/foretell.h"
#include "cli/explain/explain.h"
#include "common/mac.h"
#include "common/mode.h"
#include "options/options.h"
#include "view/view_bond.h"
#include "view/view_field.h"
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

struct explanation {
	const struct question *question;
	const struct pins *pins;
	const char *bond;
	struct flow_rule rule;
	bool is_hashed; /* a hash decides */
	uint64_t hash;
	struct forecast forecast;
	bool is_foretold; /* false: of the forecast only the slot is known */
	const char *why;  /* NULL: a hash decides */
	bool is_asked;	  /* a policy of the user decides */
	struct policy_answer answer;
};

static bool explain_counts(const struct question *question, enum flow_field field)
{
	return flow_packet_counts(&question->call.flow, &question->rule, field);
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
	question->rule = foretell_rule(pins);
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

/* For modes and policies where no hash of xbond decides. */
static void explain_unhashed(struct explanation *explanation, unsigned int slot, const char *why)
{
	explanation->forecast.slot = slot;
	explanation->why = why;
}

static void explain_flowlet(struct explanation *explanation, uint64_t hash)
{
	unsigned int slot = foretell_flowlet(explanation->pins, hash);

	explain_unhashed(explanation, slot,
			 slot < XBOND_MAX_SLAVES
				 ? "flowlet_gap: the flow keeps its slave until it pauses"
				 : "flowlet_gap: the flow pauses, and then takes the slave "
				   "that has recently sent the least");
}

/* A slot that a policy answers comes before flowlet_gap, and its hash is that of the flowlet. */
static void explain_answered(struct explanation *explanation, uint64_t hash)
{
	const struct policy_answer *answer = &explanation->answer;
	const struct pins *pins = explanation->pins;

	if (answer->kind == POLICY_HASH)
		hash = answer->hash;
	if (answer->kind != POLICY_SLOT && pins->table->flags & XBOND_F_FLOWLETS) {
		explain_flowlet(explanation, hash);
		return;
	}
	explanation->is_hashed = explanation->is_foretold = true;
	explanation->hash = hash;
	explanation->forecast = answer->kind == POLICY_SLOT
					? foretell_chosen(pins, answer->slot, hash)
					: foretell(pins, hash);
}

/* xmit_hash_policy flow: nobody knows the hash, but a policy of the user may decide without it. */
static void explain_socket(struct explanation *explanation)
{
	struct policy_answer *answer = &explanation->answer;
	const struct pins *pins = explanation->pins;
	struct captured packet;

	flow_packet_make(&explanation->question->call.flow, &packet);
	explanation->is_asked =
		view_policy_decides(pins) &&
		policy_answer_unhashed(pins, &packet, foretell_mask(pins), answer) &&
		(answer->kind != POLICY_SLOT || slots_have(foretell_live(pins), answer->slot));
	if (!explanation->is_asked)
		explanation->why = "policy flow uses the kernel's own hash of the connection, "
				   "which bondctl cannot compute";
	else if (answer->kind == POLICY_HASH)
		explain_answered(explanation, answer->hash);
	else
		explain_unhashed(explanation, answer->slot, "the loaded policy chooses the slave");
}

/* For modes where a hash decides. */
static void explain_hashed(struct explanation *explanation)
{
	const struct question *question = explanation->question;
	uint64_t hash;

	if (question->rule.policy == XBOND_POLICY_FLOW) {
		explain_socket(explanation);
		return;
	}
	hash = flow_packet_hash(&question->call.flow, &question->rule);
	explanation->is_asked =
		explain_ask_policy(question, explanation->pins, hash, &explanation->answer);
	explain_answered(explanation, hash);
}

static void explain_active(struct explanation *explanation, const char *why)
{
	explanation->forecast = foretell_active(explanation->pins);
	explanation->forecast.detour = false;
	explanation->is_foretold = true;
	explanation->why = why;
}

static void explain_answer(struct explanation *explanation)
{
	if (explain_is_active_ones(explanation->question, explanation->pins)) {
		explain_active(explanation, "broadcasts and multicasts are not balanced; the "
					    "active slave carries them");
		return;
	}
	switch ((enum xbond_selection)explanation->pins->table->selection) {
	case XBOND_SELECT_TURNS:
		explanation->why = "packets take the slaves in turn, whatever their flow";
		return;
	case XBOND_SELECT_ACTIVE:
		explain_active(explanation, "the active slave carries everything");
		return;
	case XBOND_SELECT_HASH: explain_hashed(explanation); return;
	case XBOND_SELECT_ALL: break;
	}
	explanation->why = "every slave transmits every packet";
}

/* The same as JSON. */

static json_t *explain_slave_json(const struct pins *pins, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? json_value_text(pins->slaves[slot].name) : json_null();
}

static json_t *explain_read_slave(const struct view_place *place)
{
	const struct explanation *explanation = place->at;
	const void *slot = (const char *)place->at + place->field->offset;

	return explain_slave_json(explanation->pins, *(const unsigned int *)slot);
}

static json_t *explain_read_unsure(const struct view_place *place)
{
	const struct explanation *explanation = place->at;
	json_t *names = json_array();

	slots_for_each (explanation->forecast.unsure, slot)
		json_array_append_new(names, explain_slave_json(explanation->pins, slot));
	return names;
}

static json_t *explain_read_mode(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return view_member(place->field, explanation->pins->bond);
}

static const char *explain_policy_word(unsigned int policy)
{
	return option_name_by_number(option_at(OPT_XMIT_HASH_POLICY), policy);
}

static json_t *explain_read_fields(const struct view_place *place)
{
	const struct explanation *explanation = place->at;
	const struct question *question = explanation->question;
	json_t *fields = json_object();
	char mac[MAC_FORMAT_SIZE];

	for (int field = 0; explanation->is_hashed && field < FLOW_FIELDS; field++) {
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

static const char *explain_field_word(unsigned int field)
{
	return field < FLOW_FIELDS ? explain_words[field] : NULL;
}

static json_t *explain_read_hash(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return explanation->is_hashed
		       ? json_sprintf("0x%016llx", (unsigned long long)explanation->hash)
		       : json_null();
}

static json_t *explain_read_bucket(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return explanation->is_hashed ? view_known(place->field, explanation) : json_null();
}

static json_t *explain_read_why(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return foretell_mask(explanation->pins) ? view_member(place->field, explanation)
						: json_string(prediction_why[PREDICT_NO_SLAVE]);
}

static json_t *explain_read_policy(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return view_policy(explanation->pins);
}

static const char *explain_answer_word(unsigned int kind)
{
	static const char *const words[] = { "default", "hash", "slot" };

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : NULL;
}

static json_t *explain_read_slot(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return explanation->answer.slot < XBOND_MAX_SLAVES ? view_known(place->field, explanation)
							   : json_null();
}

static const void *explain_base_failed(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return explanation->is_foretold ? explanation : NULL;
}

static const void *explain_base_policy(const struct view_place *place)
{
	const struct explanation *explanation = place->at;

	return explanation->is_asked ? explanation : NULL;
}

#define EXPLAINED(member) VIEW_IN(struct explanation, member)

static const struct view_field explain_fields_of_failed[] = {
	{ "at_once", VIEW_TEXT, "The slave from the next packet on.", EXPLAINED(forecast.at_once),
	  .read = explain_read_slave, .null = true },
	{ "settled", VIEW_TEXT, "The slave when bondd has acted.", EXPLAINED(forecast.settled),
	  .read = explain_read_slave, .null = true },
	{ "unsure", VIEW_WORDS,
	  "Ports of 802.3ad on whose partners *settled* depends, which is null then.",
	  .read = explain_read_unsure, .null = true },
};

static const struct view_table explain_table_of_failed =
	VIEW_TABLE("failed", explain_fields_of_failed);

static const struct view_field explain_fields_of_policy[] = {
	{ "name", VIEW_TEXT, "Its name.", .read = explain_read_policy },
	{ "answer", VIEW_WORD, "What it answers to a packet of the flow, on which it is run.",
	  EXPLAINED(answer.kind), .word = explain_answer_word },
	{ "slot", VIEW_COUNT, "The slot that it answers.", EXPLAINED(answer.slot),
	  .read = explain_read_slot, .null = true, .max = XBOND_MAX_SLAVES - 1 },
};

static const struct view_table explain_table_of_policy =
	VIEW_TABLE("policy", explain_fields_of_policy);

static const struct view_field explain_fields[] = {
	{ "bond", VIEW_STRING, "The name of the bond.", EXPLAINED(bond) },
	{ "mode", VIEW_WORD, "Its mode.", VIEW_IN(struct xbond_bond, mode),
	  .read = explain_read_mode, .word = view_mode_word },
	{ "xmit_hash_policy", VIEW_WORD, "The option.", EXPLAINED(rule.policy),
	  .word = explain_policy_word },
	{ "hash_seed", VIEW_COUNT, "The option.", EXPLAINED(rule.seed), .max = UINT32_MAX },
	{ "symmetric", VIEW_TRUTH, "The option.", EXPLAINED(rule.symmetric) },
	{ "fields", VIEW_TEXTS, "The fields that are hashed, as text.", .read = explain_read_fields,
	  .word = explain_field_word },
	{ "hash", VIEW_TEXT, "The hash; null: no hash decides.", .read = explain_read_hash,
	  .null = true },
	{ "bucket", VIEW_COUNT, "The bucket of the hash.", EXPLAINED(forecast.bucket),
	  .read = explain_read_bucket, .null = true, .max = XBOND_BUCKETS - 1 },
	{ "detour", VIEW_TRUTH, "May the bucket's own slave, or that of a policy, not transmit?",
	  EXPLAINED(forecast.detour) },
	{ "slave", VIEW_TEXT, "The slave; null: none, or no single one.", EXPLAINED(forecast.slot),
	  .read = explain_read_slave, .null = true },
	{ "if_failed", VIEW_OBJECT,
	  "What if that slave failed. Null where no single slave is certain.",
	  .base = explain_base_failed, .table = &explain_table_of_failed, .null = true },
	{ "why", VIEW_STRING,
	  "Why no hash decides, or that no slave may transmit and the packet is dropped; otherwise "
	  "null.",
	  EXPLAINED(why), .read = explain_read_why, .null = true },
	{ "policy", VIEW_OBJECT,
	  "The policy of the user (see *bondctl-policy*(8)); null: none decides.",
	  .base = explain_base_policy, .table = &explain_table_of_policy, .null = true },
};

const struct view_table explain_json = VIEW_TABLE("explain", explain_fields);

static json_t *explain_explanation(const struct question *question, const struct pins *pins)
{
	struct explanation explanation = { .question = question,
					   .pins = pins,
					   .bond = question->call.bond,
					   .rule = question->rule,
					   .forecast = { .slot = XBOND_NO_SLOT } };

	explain_answer(&explanation);
	return view_struct(&explain_json, &explanation);
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
	rule = foretell_rule(&pins);
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
