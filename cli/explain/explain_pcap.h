/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain --pcap: the slave of each packet of a capture, and what each slave gets of it.
 * explain_pcap.c walks through the file, explain_pcap_print.c prints.
 */
#ifndef XBOND_CLI_EXPLAIN_EXPLAIN_PCAP_H
#define XBOND_CLI_EXPLAIN_EXPLAIN_PCAP_H

#include "bpf/flow_words.h"
#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "cli/explain/predict.h"

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

enum cli_exit explain_pcap(const struct cli *cli, const struct pins *pins,
			   const struct flow_rule *rule, const char *bond, const char *file,
			   bool summary);

void explain_pcap_begin(const struct explain_pcap *explain);
void explain_pcap_print(const struct explain_pcap *explain, const struct pcap_packet *packet);
void explain_pcap_end(const struct explain_pcap *explain);

#endif
