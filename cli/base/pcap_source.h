/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packets of a capture file (pcap or pcapng, by libpcap), one after another. Knows no bond. */
#ifndef XBOND_CLI_BASE_PCAP_SOURCE_H
#define XBOND_CLI_BASE_PCAP_SOURCE_H

#include <time.h>

#include "cli/base/captured.h"
#include "common/err.h"

struct pcap;

struct pcap_source {
	const char *file;
	struct pcap *pcap;
	enum captured_link link;
};

/* "-" is standard input. */
int pcap_source_open(struct pcap_source *source, const char *file, struct err *err);
void pcap_source_close(struct pcap_source *source);

/*
 * Returns 1 for a packet, 0 at the end of the file, or -EBADMSG if the file is damaged here.
 * ret_understood: false if the packet is not one of an Ethernet device.
 */
int pcap_source_next(struct pcap_source *source, struct captured *ret_captured,
		     bool *ret_understood, struct timespec *ret_time, struct err *err);

#endif
