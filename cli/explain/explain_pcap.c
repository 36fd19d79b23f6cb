/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain --pcap: the slave of each packet of a capture, and what each slave gets of it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/base/cli.h"
#include "cli/base/foretell.h"
#include "cli/base/print.h"
#include "cli/explain/explain.h"
#include "common/mode.h"
#include "options/options.h"
#include "view/view_field.h"
#include "view/view_json.h"

/* What is printed. */

struct pcap_sum {
	uint64_t packets, bytes, flows;
};

struct explain_pcap {
	const struct pins *pins;
	const char *bond;
	struct flow_rule rule;
	struct pcap_source source;
	bool json, summary; /* summary: no line for each packet */
	uint64_t packets;   /* read so far */
	struct pcap_sum slave[XBOND_MAX_SLAVES];
	struct pcap_sum kind[PREDICT_KINDS];
	struct flow_counts flows;
};

/* Once understood is false, captured is undefined. */
struct pcap_packet {
	struct timespec time;
	bool understood;
	struct captured captured;
	struct tuple tuple;
	struct prediction prediction;
};

static bool explain_pcap_hashes(const struct explain_pcap *explain)
{
	return explain->pins->table->selection == XBOND_SELECT_HASH;
}

/* Packets that the bond sends, wherever they go. */
static struct pcap_sum explain_pcap_sent(const struct explain_pcap *explain)
{
	struct pcap_sum sum = { 0 };

	for (int kind = 0; kind < PREDICT_KINDS; kind++) {
		if (kind == PREDICT_RECEIVED || kind == PREDICT_OF_SLAVE ||
		    kind == PREDICT_NO_ETHERNET)
			continue;
		sum.packets += explain->kind[kind].packets;
		sum.bytes += explain->kind[kind].bytes;
	}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		sum.flows += explain->slave[slot].flows;
	return sum;
}

/* With what every slave sends. */
static struct pcap_sum explain_pcap_of_slave(const struct explain_pcap *explain, unsigned int slot)
{
	struct pcap_sum sum = explain->slave[slot];

	if (slots_have(foretell_live(explain->pins), slot)) {
		sum.packets += explain->kind[PREDICT_EVERY].packets;
		sum.bytes += explain->kind[PREDICT_EVERY].bytes;
	}
	return sum;
}

static double explain_pcap_part(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static const char *explain_pcap_slave(const struct explain_pcap *explain,
				      const struct prediction *prediction)
{
	return prediction->slot < XBOND_MAX_SLAVES ? explain->pins->slaves[prediction->slot].name
						   : NULL;
}

/* One line of JSON without its first or last character, which the caller prints with others. */
static void explain_pcap_put_json(json_t *json, size_t from, size_t without)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));

	if (text)
		printf("%.*s", (int)(strlen(text) - from - without), text + from);
	free(text);
	json_decref(json);
}

static void explain_pcap_begin(const struct explain_pcap *explain)
{
	const struct option_spec *policy = option_at(OPT_XMIT_HASH_POLICY);
	struct option_value value = { .number = explain->rule.policy };
	char text[32];

	if (!explain->json)
		return;
	option_format(policy, &value, text, sizeof(text));
	explain_pcap_put_json(
		json_pack("{s:s, s:s, s:o}", "bond", explain->bond, "mode",
			  mode_name(explain->pins->bond->mode), policy->name,
			  explain_pcap_hashes(explain) ? json_string(text) : json_null()),
		0, 1);
	if (!explain->summary)
		printf(",\n\"packets\":[");
}

static void explain_pcap_print_json(const struct explain_pcap *explain,
				    const struct pcap_packet *packet)
{
	const struct prediction *prediction = &packet->prediction;
	char time[CLOCK_TEXT];

	printf("%s\n", explain->packets > 1 ? "," : "");
	explain_pcap_put_json(
		json_pack("{s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "number",
			  (json_int_t)explain->packets, "time",
			  clock_text_unix(&packet->time, time), "length",
			  (json_int_t)packet->captured.length, "flow",
			  packet->understood ? view_struct(&tuple_table, &packet->tuple)
					     : json_null(),
			  "bucket",
			  prediction->bucket < 0 ? json_null() : json_integer(prediction->bucket),
			  "slave", json_value_text(explain_pcap_slave(explain, prediction)), "why",
			  json_value_text(prediction_why[prediction->kind])),
		0, 0);
}

static void explain_pcap_print(const struct explain_pcap *explain, const struct pcap_packet *packet)
{
	const char *slave = explain_pcap_slave(explain, &packet->prediction);
	const char *why = prediction_why[packet->prediction.kind];
	char time[CLOCK_TEXT], name[XBOND_NAME_SIZE], flow[TUPLE_TEXT] = "?";

	if (explain->json) {
		explain_pcap_print_json(explain, packet);
		return;
	}
	if (packet->understood)
		tuple_format(&packet->tuple, flow);
	printf("%s %-8s %s length %u%s%s%s\n", clock_text(&packet->time, time),
	       slave ? cli_name(slave, name) : "-", flow, packet->captured.length, why ? " (" : "",
	       why ? why : "", why ? ")" : "");
}

static json_t *explain_pcap_slaves_json(const struct explain_pcap *explain)
{
	struct pcap_sum sent = explain_pcap_sent(explain);
	json_t *slaves = json_array();
	double share[XBOND_MAX_SLAVES];

	foretell_shares(explain->pins, share);
	pins_for_each_member (explain->pins, slot) {
		struct pcap_sum sum = explain_pcap_of_slave(explain, slot);

		json_array_append_new(
			slaves,
			json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:f}", "name",
				  json_value_text(explain->pins->slaves[slot].name), "packets",
				  (json_int_t)sum.packets, "bytes", (json_int_t)sum.bytes, "flows",
				  (json_int_t)sum.flows, "share_of_packets",
				  explain_pcap_part(sum.packets, sent.packets), "share_of_bytes",
				  explain_pcap_part(sum.bytes, sent.bytes), "share_due",
				  share[slot]));
	}
	return slaves;
}

static json_t *explain_pcap_others_json(const struct explain_pcap *explain)
{
	json_t *others = json_array();

	for (int kind = 0; kind < PREDICT_KINDS; kind++)
		if (prediction_why[kind] && explain->kind[kind].packets)
			json_array_append_new(
				others,
				json_pack("{s:s, s:I, s:I}", "why", prediction_why[kind], "packets",
					  (json_int_t)explain->kind[kind].packets, "bytes",
					  (json_int_t)explain->kind[kind].bytes));
	return others;
}

static void explain_pcap_end_json(const struct explain_pcap *explain)
{
	struct pcap_sum sent = explain_pcap_sent(explain);

	if (!explain->summary)
		printf("]");
	printf(",\n");
	explain_pcap_put_json(json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "total_packets",
					(json_int_t)explain->packets, "sent_packets",
					(json_int_t)sent.packets, "sent_bytes",
					(json_int_t)sent.bytes, "flows", (json_int_t)sent.flows,
					"all_flows_counted", !explain->flows.unnoted, "slaves",
					explain_pcap_slaves_json(explain), "others",
					explain_pcap_others_json(explain)),
			      1, 0);
	putchar('\n');
}

static void explain_pcap_print_slaves(const struct explain_pcap *explain)
{
	struct pcap_sum sent = explain_pcap_sent(explain);
	double share[XBOND_MAX_SLAVES];
	char name[XBOND_NAME_SIZE];

	foretell_shares(explain->pins, share);
	printf("%-15s %10s %7s %14s %7s %8s %9s\n", "slave", "packets", "share", "bytes", "share",
	       "flows", "by weight");
	pins_for_each_member (explain->pins, slot) {
		struct pcap_sum sum = explain_pcap_of_slave(explain, slot);

		printf("%-15s %10llu %6.1f%% %14llu %6.1f%% %s%7llu %8.1f%%\n",
		       cli_name(explain->pins->slaves[slot].name, name),
		       (unsigned long long)sum.packets,
		       100 * explain_pcap_part(sum.packets, sent.packets),
		       (unsigned long long)sum.bytes,
		       100 * explain_pcap_part(sum.bytes, sent.bytes),
		       explain->flows.unnoted ? ">" : " ", (unsigned long long)sum.flows,
		       100 * share[slot]);
	}
}

static void explain_pcap_end(const struct explain_pcap *explain)
{
	if (explain->json) {
		explain_pcap_end_json(explain);
		return;
	}
	if (explain->packets && !explain->summary)
		putchar('\n');
	explain_pcap_print_slaves(explain);
	for (int kind = 0; kind < PREDICT_KINDS; kind++)
		if (prediction_why[kind] && explain->kind[kind].packets)
			printf("%llu packets, %llu bytes: %s\n",
			       (unsigned long long)explain->kind[kind].packets,
			       (unsigned long long)explain->kind[kind].bytes, prediction_why[kind]);
	if (explain->pins->table->flags & XBOND_F_QUEUE_IDS)
		puts("A slave has a queue_id: packets for its queue take that "
		     "slave, and no capture shows which they are.");
}

/* The walk through the file. */

#define MOST_FLOWS (1 << 18)

static void explain_pcap_count(struct pcap_sum *sum, const struct pcap_packet *packet)
{
	sum->packets++;
	sum->bytes += packet->captured.length;
}

static void explain_pcap_take(struct explain_pcap *explain, struct pcap_packet *packet)
{
	struct prediction *prediction = &packet->prediction;

	explain->packets++;
	*prediction = (struct prediction){ PREDICT_NO_ETHERNET, XBOND_NO_SLOT, -1 };
	if (packet->understood) {
		tuple_of(&packet->captured, &packet->tuple);
		*prediction = predict(explain->pins, &explain->rule, &packet->captured);
	}
	explain_pcap_count(&explain->kind[prediction->kind], packet);
	if (prediction->slot < XBOND_MAX_SLAVES)
		explain_pcap_count(&explain->slave[prediction->slot], packet);
	if (prediction->kind == PREDICT_SLAVE)
		flow_counts_add(&explain->flows, &packet->tuple, prediction->slot,
				packet->captured.length, 1);
	if (!explain->summary)
		explain_pcap_print(explain, packet);
}

static void explain_pcap_count_flows(struct explain_pcap *explain)
{
	const struct flow_counts *flows = &explain->flows;

	for (size_t at = 0; at < flows->capacity; at++)
		if (flows->flows[at].packets > 0 && flows->flows[at].slot < XBOND_MAX_SLAVES)
			explain->slave[flows->flows[at].slot].flows++;
}

static enum cli_exit explain_pcap_walk(struct explain_pcap *explain)
{
	struct pcap_packet packet;
	struct err err;
	int r;

	explain_pcap_begin(explain);
	do {
		r = pcap_source_next(&explain->source, &packet.captured, &packet.understood,
				     &packet.time, &err);
		if (r > 0)
			explain_pcap_take(explain, &packet);
	} while (r > 0 && !ferror(stdout));
	explain_pcap_count_flows(explain);
	explain_pcap_end(explain);
	return r < 0 ? cli_refuse(&err) : CLI_DONE;
}

static void explain_pcap_on_interrupt(int number)
{
}

/*
 * Ctrl-C in a terminal ends both sides of a pipe. The other side then ends the capture, and the
 * shares are printed. A second one ends bondctl.
 */
static void explain_pcap_outlive_interrupt(void)
{
	struct sigaction action = { .sa_handler = explain_pcap_on_interrupt,
				    .sa_flags = SA_RESTART | (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
}

enum cli_exit explain_pcap(const struct cli *cli, const struct pins *pins,
			   const struct flow_rule *rule, const char *bond, const char *file,
			   bool summary)
{
	struct explain_pcap explain = {
		.pins = pins, .bond = bond, .rule = *rule, .json = cli->json, .summary = summary
	};
	enum cli_exit status;
	struct err err;

	if (pcap_source_open(&explain.source, file, &err))
		return cli_refuse(&err);
	if (!strcmp(file, "-"))
		explain_pcap_outlive_interrupt();
	flow_counts_init(&explain.flows, MOST_FLOWS);
	status = explain_pcap_walk(&explain);
	flow_counts_done(&explain.flows);
	pcap_source_close(&explain.source);
	return status;
}
