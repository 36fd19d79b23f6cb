/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain: which slave a flow takes and why, from the pinned maps alone. The hash is that of
 * bpf/flow.h; which fields count is found out by changing each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/flow_words.h"
#include "cli/cli.h"
#include "cli/flow_packet.h"
#include "cli/foretell.h"
#include "common/mac.h"
#include "common/names.h"
#include "common/values.h"

static const char *const words[FLOW_FIELDS] = {
	[FLOW_SMAC] = "smac",	[FLOW_DMAC] = "dmac",	[FLOW_VLAN] = "vlan",
	[FLOW_SRC] = "src",	[FLOW_DST] = "dst",	[FLOW_LABEL] = "label",
	[FLOW_PROTO] = "proto", [FLOW_SPORT] = "sport", [FLOW_DPORT] = "dport",
};

/* How each missing field can be had; NULL: it need not be given. */
static const char *const whence[FLOW_FIELDS] = {
	[FLOW_DMAC] = "the neighbour's, which 'ip neigh' has",
	[FLOW_LABEL] = "which a packet capture shows",
	[FLOW_SPORT] = "which 'ss' shows",
	[FLOW_DPORT] = "which 'ss' shows",
};

struct question {
	const char *bond;
	const char *text[FLOW_FIELDS]; /* as given; NULL: not */
	struct flow_packet flow;
	struct flow_rule rule;
};

static int bad(const struct question *question, enum flow_field field, const char *allowed, struct err *err)
{
	return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", words[field],
		       question->text[field], allowed);
}

static int parse_number(const struct question *question, enum flow_field field, unsigned long min,
			unsigned long max, unsigned long *ret_number, struct err *err)
{
	const char *text = question->text[field];
	char allowed[32], *end;

	*ret_number = 0;
	if (!text)
		return 0;
	errno = 0;
	*ret_number = strtoul(text, &end, 10);
	if (!errno && *end == '\0' && text[strspn(text, "0123456789")] == '\0' && *text &&
	    *ret_number >= min && *ret_number <= max)
		return 0;
	snprintf(allowed, sizeof(allowed), "%lu..%lu", min, max);
	return bad(question, field, allowed, err);
}

static int parse_mac(const struct question *question, enum flow_field field, uint8_t *ret_mac,
		     struct err *err)
{
	if (question->text[field] && mac_parse(question->text[field], ret_mac))
		return bad(question, field, "six pairs of hexadecimal digits with colons between them", err);
	return 0;
}

static int parse_addresses(struct question *question, struct err *err)
{
	const char *src = question->text[FLOW_SRC], *dst = question->text[FLOW_DST];
	int family;

	question->flow.ip6 = strchr(src, ':');
	family = question->flow.ip6 ? AF_INET6 : AF_INET;
	if (inet_pton(family, src, question->flow.src) != 1)
		return bad(question, FLOW_SRC, "an IPv4 or IPv6 address", err);
	if (inet_pton(family, dst, question->flow.dst) != 1)
		return bad(question, FLOW_DST,
			   question->flow.ip6 ? "an IPv6 address, as src is one"
					      : "an IPv4 address, as src is one",
			   err);
	return 0;
}

static int parse_proto(struct question *question, struct err *err)
{
	const char *proto = question->text[FLOW_PROTO];

	if (!proto) {
		if (question->text[FLOW_SPORT] || question->text[FLOW_DPORT])
			return err_set(err, EINVAL, "ports need a protocol: give 'proto tcp' or 'proto udp'");
		return 0;
	}
	question->flow.proto = !strcmp(proto, "tcp") ? IPPROTO_TCP : IPPROTO_UDP;
	if (strcmp(proto, "tcp") && strcmp(proto, "udp"))
		return bad(question, FLOW_PROTO, "tcp|udp", err);
	return 0;
}

static int parse_values(struct question *question, struct err *err)
{
	struct flow_packet *flow = &question->flow;
	unsigned long vlan, label, sport, dport;

	if (parse_addresses(question, err) || parse_proto(question, err) ||
	    parse_mac(question, FLOW_SMAC, flow->smac, err) ||
	    parse_mac(question, FLOW_DMAC, flow->dmac, err) ||
	    parse_number(question, FLOW_VLAN, 1, 4094, &vlan, err) ||
	    parse_number(question, FLOW_LABEL, 0, 0xfffff, &label, err) ||
	    parse_number(question, FLOW_SPORT, 0, 65535, &sport, err) ||
	    parse_number(question, FLOW_DPORT, 0, 65535, &dport, err))
		return -EINVAL;
	if (question->text[FLOW_LABEL] && !flow->ip6)
		return err_set(err, EINVAL, "label: only IPv6 has a flow label; leave it out");
	flow->vlan = (uint16_t)vlan;
	flow->label = (uint32_t)label;
	flow->sport = (uint16_t)sport;
	flow->dport = (uint16_t)dport;
	return 0;
}

static enum cli_exit take_pair(const struct verb *verb, struct question *question, const char *word,
			       const char *value)
{
	for (int field = 0; field < FLOW_FIELDS; field++) {
		if (strcmp(word, words[field]))
			continue;
		if (!value)
			return cli_usage(verb, "'%s' needs a value", word);
		if (question->text[field])
			return cli_usage(verb, "'%s' is given twice", word);
		question->text[field] = value;
		return CLI_DONE;
	}
	return cli_usage(verb, "unknown word '%s'", word);
}

static enum cli_exit take_words(const struct verb *verb, int argc, char **argv, struct question *question)
{
	enum cli_exit status = CLI_DONE;

	question->bond = argv[0];
	for (int i = 1; i < argc && status == CLI_DONE; i += 2)
		status = take_pair(verb, question, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
	if (status == CLI_DONE && !(question->text[FLOW_SRC] && question->text[FLOW_DST]))
		return cli_usage(verb, "needs src IP and dst IP");
	return status;
}

static bool counts(const struct question *question, enum flow_field field)
{
	return flow_packet_counts(&question->flow, &question->rule, field);
}

/* What the bond's settings say, and what its user left out. */
static int complete(struct question *question, const struct pins *pins, struct err *err)
{
	question->rule = (struct flow_rule){ .policy = pins->settings->xmit_hash_policy,
					     .seed = pins->table->hash_seed,
					     .symmetric = pins->settings->symmetric,
					     .flow_label = pins->settings->ip6_flow_label };
	if (!question->text[FLOW_SMAC])
		memcpy(question->flow.smac, pins->bond->mac, XBOND_MAC_SIZE);
	if (pins->table->mode != XBOND_MODE_BALANCE_XOR || question->rule.policy == XBOND_POLICY_FLOW)
		return 0;
	for (int field = 0; field < FLOW_FIELDS; field++)
		if (whence[field] && !question->text[field] && counts(question, field))
			return err_set(err, EINVAL, "%s counts here: give '%s', %s", words[field],
				       words[field], whence[field]);
	return 0;
}

static json_t *slave_json(const struct pins *pins, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? json_string(pins->slaves[slot].name) : json_null();
}

static json_t *fields_json(const struct question *question)
{
	json_t *fields = json_object();
	char mac[MAC_FORMAT_SIZE];

	for (int field = 0; field < FLOW_FIELDS; field++) {
		const char *text = question->text[field];

		if (!counts(question, field))
			continue;
		if (!text)
			text = field == FLOW_SMAC ? mac_format(question->flow.smac, mac) : "none";
		json_object_set_new(fields, words[field], json_string(text));
	}
	return fields;
}

/* Where the hash decides. */
static json_t *hashed(const struct question *question, const struct pins *pins)
{
	uint64_t hash = flow_packet_hash(&question->flow, &question->rule);
	struct forecast forecast = foretell(pins, hash);
	char text[20];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)hash);
	return json_pack("{s:o, s:s, s:i, s:b, s:o, s:{s:o, s:o}, s:n}", "fields", fields_json(question),
			 "hash", text, "bucket", (int)forecast.bucket, "detour", forecast.detour, "slave",
			 slave_json(pins, forecast.slot), "if_failed", "at_once",
			 slave_json(pins, forecast.at_once), "settled", slave_json(pins, forecast.settled),
			 "why");
}

/* Where it does not. */
static json_t *unhashed(json_t *slave, const char *why)
{
	return json_pack("{s:{}, s:n, s:n, s:b, s:o, s:n, s:s}", "fields", "hash", "bucket", "detour", 0,
			 "slave", slave, "if_failed", "why", why);
}

static json_t *answer(const struct question *question, const struct pins *pins)
{
	uint32_t mode = pins->table->mode;

	if (mode == XBOND_MODE_BALANCE_RR)
		return unhashed(json_null(), "packets take the slaves in turn, whatever is in them");
	if (mode == XBOND_MODE_ACTIVE_BACKUP)
		return unhashed(slave_json(pins, values_active_slot(pins)), "the active slave carries all");
	if (mode != XBOND_MODE_BALANCE_XOR)
		return unhashed(json_null(), "every slave transmits every packet");
	if (question->rule.policy == XBOND_POLICY_FLOW)
		return unhashed(
			json_null(),
			"policy flow hashes what the kernel keeps for the connection, not its addresses");
	return hashed(question, pins);
}

static json_t *explanation(const struct question *question, const struct pins *pins)
{
	const struct option *policy = option_at(OPT_XMIT_HASH_POLICY);
	struct option_value value = { .number = question->rule.policy };
	json_t *json =
		json_pack("{s:s, s:s}", "name", question->bond, "mode", option_mode_name(pins->bond->mode));
	char text[32];

	option_format(policy, &value, text, sizeof(text));
	json_object_set_new(json, policy->name, json_string(text));
	json_object_set_new(json, "hash_seed", json_integer(question->rule.seed));
	json_object_set_new(json, "symmetric", json_boolean(question->rule.symmetric));
	json_object_update_new(json, answer(question, pins));
	return json;
}

static const char *text_at(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "none";
}

static void print_hashed(const json_t *json)
{
	const json_t *failed = json_object_get(json, "if_failed"), *value;
	const char *separator = "fields  ", *key;

	printf("policy  %s, seed %lld%s\n", text_at(json, "xmit_hash_policy"),
	       (long long)json_integer_value(json_object_get(json, "hash_seed")),
	       json_is_true(json_object_get(json, "symmetric")) ? ", symmetric" : "");
	json_object_foreach ((json_t *)json_object_get(json, "fields"), key, value) {
		printf("%s%s %s", separator, key, json_string_value(value));
		separator = ", ";
	}
	printf("\nhash    %s, bucket %lld\n", text_at(json, "hash"),
	       (long long)json_integer_value(json_object_get(json, "bucket")));
	printf("slave   %s%s\n", text_at(json, "slave"),
	       json_is_true(json_object_get(json, "detour")) ? " (the bucket's own may not transmit)" : "");
	if (!json_is_null(json_object_get(json, "slave")))
		printf("if %s failed: %s at once, %s when bondd has shared out its buckets\n",
		       text_at(json, "slave"), text_at(failed, "at_once"), text_at(failed, "settled"));
}

static enum cli_exit print(const struct cli *cli, json_t *json)
{
	if (cli->json)
		return cli_print_json(json);
	if (json_is_null(json_object_get(json, "why")))
		print_hashed(json);
	else
		printf("mode    %s: %s\nslave   %s\n", text_at(json, "mode"), text_at(json, "why"),
		       text_at(json, "slave"));
	json_decref(json);
	return CLI_DONE;
}

enum cli_exit cmd_explain(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct question question = { 0 };
	enum cli_exit status;
	struct pins pins;
	struct err err;

	status = take_words(verb, argc, argv, &question);
	if (status != CLI_DONE)
		return status;
	if (name_check("bond", question.bond, &err) || parse_values(&question, &err) ||
	    pins_open(&pins, cli->paths.bpf_dir, question.bond, &err))
		return cli_refuse(&err);
	if (complete(&question, &pins, &err))
		status = cli_refuse(&err);
	else
		status = print(cli, explanation(&question, &pins));
	pins_close(&pins);
	return status;
}
