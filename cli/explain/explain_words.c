/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of explain: parses those of a call into a flow, and prints those of an answer. Knows no
 * bond.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/explain.h"
#include "common/mac.h"

const char *const explain_words[FLOW_FIELDS] = {
	[FLOW_SMAC] = "smac",	[FLOW_DMAC] = "dmac",	[FLOW_VLAN] = "vlan",
	[FLOW_SRC] = "src",	[FLOW_DST] = "dst",	[FLOW_LABEL] = "label",
	[FLOW_PROTO] = "proto", [FLOW_SPORT] = "sport", [FLOW_DPORT] = "dport",
};

static int explain_bad(const struct explain_call *call, enum flow_field field, const char *allowed,
		       struct err *err)
{
	return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", explain_words[field],
		       call->text[field], allowed);
}

static int explain_parse_number(const struct explain_call *call, enum flow_field field,
				unsigned long min, unsigned long max, unsigned long *ret_number,
				struct err *err)
{
	const char *text = call->text[field];
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
	return explain_bad(call, field, allowed, err);
}

static int explain_parse_mac(const struct explain_call *call, enum flow_field field,
			     uint8_t *ret_mac, struct err *err)
{
	if (call->text[field] && mac_parse(call->text[field], ret_mac))
		return explain_bad(call, field,
				   "six pairs of hexadecimal digits with colons between them", err);
	return 0;
}

static int explain_parse_addresses(struct explain_call *call, struct err *err)
{
	const char *src = call->text[FLOW_SRC], *dst = call->text[FLOW_DST];
	int family;

	call->flow.ip6 = strchr(src, ':');
	family = call->flow.ip6 ? AF_INET6 : AF_INET;
	if (inet_pton(family, src, call->flow.src) != 1)
		return explain_bad(call, FLOW_SRC, "an IPv4 or IPv6 address", err);
	if (inet_pton(family, dst, call->flow.dst) != 1)
		return explain_bad(call, FLOW_DST,
				   call->flow.ip6 ? "an IPv6 address, as src is one"
						  : "an IPv4 address, as src is one",
				   err);
	return 0;
}

static const struct {
	const char *name;
	uint8_t number;
	bool has_ports;
} protocols[] = {
	{ "tcp", IPPROTO_TCP, true },	     { "udp", IPPROTO_UDP, true },
	{ "icmp", IPPROTO_ICMP, false },     { "icmp6", IPPROTO_ICMPV6, false },
	{ "icmpv6", IPPROTO_ICMPV6, false },
};

static int explain_parse_proto(struct explain_call *call, struct err *err)
{
	const char *proto = call->text[FLOW_PROTO];

	if (!proto) {
		if (call->text[FLOW_SPORT] || call->text[FLOW_DPORT])
			return err_set(err, EINVAL,
				       "ports need a protocol: give 'proto tcp' or 'proto udp'");
		return 0;
	}
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		if (strcmp(protocols[i].name, proto))
			continue;
		call->flow.proto = protocols[i].number;
		if (!protocols[i].has_ports && (call->text[FLOW_SPORT] || call->text[FLOW_DPORT]))
			return err_set(err, EINVAL, "proto: %s has no ports; leave them out",
				       proto);
		return 0;
	}
	return explain_bad(call, FLOW_PROTO, "tcp|udp|icmp", err);
}

static int explain_parse_values(struct explain_call *call, struct err *err)
{
	struct flow_packet *flow = &call->flow;
	unsigned long vlan, label, sport, dport;

	if (explain_parse_addresses(call, err) || explain_parse_proto(call, err) ||
	    explain_parse_mac(call, FLOW_SMAC, flow->smac, err) ||
	    explain_parse_mac(call, FLOW_DMAC, flow->dmac, err) ||
	    explain_parse_number(call, FLOW_VLAN, 1, 4094, &vlan, err) ||
	    explain_parse_number(call, FLOW_LABEL, 0, 0xfffff, &label, err) ||
	    explain_parse_number(call, FLOW_SPORT, 0, 65535, &sport, err) ||
	    explain_parse_number(call, FLOW_DPORT, 0, 65535, &dport, err))
		return -EINVAL;
	if (call->text[FLOW_LABEL] && !flow->ip6)
		return err_set(err, EINVAL, "label: only IPv6 has a flow label; leave it out");
	flow->vlan = (uint16_t)vlan;
	flow->label = (uint32_t)label;
	flow->sport = (uint16_t)sport;
	flow->dport = (uint16_t)dport;
	return 0;
}

static enum cli_exit explain_take_pair(const struct verb *verb, struct explain_call *call,
				       const char *word, const char *value)
{
	for (int field = 0; field < FLOW_FIELDS; field++) {
		if (strcmp(word, explain_words[field]))
			continue;
		if (!value)
			return cli_usage(verb, "'%s' needs a value", word);
		if (call->text[field])
			return cli_usage(verb, "'%s' is given twice", word);
		call->text[field] = value;
		return CLI_DONE;
	}
	return cli_usage(verb, "unknown word '%s'", word);
}

enum cli_exit explain_take_words(const struct verb *verb, int argc, char **argv,
				 struct explain_call *call)
{
	enum cli_exit status = CLI_DONE;
	struct err err;

	memset(call, 0, sizeof(*call));
	call->bond = argv[0];
	for (int i = 1; i < argc && status == CLI_DONE; i += 2)
		status = explain_take_pair(verb, call, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
	if (status == CLI_DONE && !(call->text[FLOW_SRC] && call->text[FLOW_DST]))
		return cli_usage(verb, "needs src IP and dst IP");
	if (status == CLI_DONE && explain_parse_values(call, &err))
		return cli_wrong(&err);
	return status;
}

/* The answer. */

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

enum cli_exit explain_print(const struct cli *cli, json_t *json)
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
