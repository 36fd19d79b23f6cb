/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/explain/explain_pcap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

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
	(void)number;
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
