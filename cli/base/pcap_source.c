/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/pcap_source.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *pcap_source_stream(const char *file, struct err *err)
{
	FILE *stream = NULL;

	if (strcmp(file, "-"))
		stream = fopen(file, "rb");
	else if (isatty(STDIN_FILENO))
		err_set(err, EINVAL,
			"standard input is a terminal, not a capture: give a file or a pipe");
	else
		stream = stdin;
	if (!stream && strcmp(file, "-"))
		err_set(err, errno, "cannot read '%s': %m", file);
	return stream;
}

static int pcap_source_set_link(struct pcap_source *source, struct err *err)
{
	int link = pcap_datalink(source->pcap);
	const char *name = pcap_datalink_val_to_name(link);

	switch (link) {
	case DLT_EN10MB: source->link = CAPTURED_ETHERNET; return 0;
	case DLT_LINUX_SLL: source->link = CAPTURED_COOKED; return 0;
	case DLT_LINUX_SLL2: source->link = CAPTURED_COOKED2; return 0;
	default: break;
	}
	return err_set(err, EINVAL,
		       "'%s' is a capture of link type %s (%d), not of an Ethernet device; capture "
		       "on the bond, for example with 'tcpdump -i BOND -Q out -w FILE'",
		       source->file, name ? name : "unknown", link);
}

int pcap_source_open(struct pcap_source *source, const char *file, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	FILE *stream = pcap_source_stream(file, err);
	int r;

	*source = (struct pcap_source){ .file = file };
	if (!stream)
		return -EINVAL;
	source->pcap =
		pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!source->pcap) {
		if (stream != stdin)
			fclose(stream);
		return err_set(err, EBADMSG, "'%s' is not a capture that can be read: %s", file,
			       text);
	}
	r = pcap_source_set_link(source, err);
	if (r)
		pcap_source_close(source);
	return r;
}

void pcap_source_close(struct pcap_source *source)
{
	pcap_close(source->pcap);
}

int pcap_source_next(struct pcap_source *source, struct captured *ret_captured,
		     bool *ret_understood, struct timespec *ret_time, struct err *err)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int r = pcap_next_ex(source->pcap, &header, &bytes);

	if (r == PCAP_ERROR_BREAK)
		return 0;
	if (r != 1)
		return err_set(err, EBADMSG, "'%s' is damaged: %s", source->file,
			       pcap_geterr(source->pcap));
	*ret_time = (struct timespec){ header->ts.tv_sec, header->ts.tv_usec };
	*ret_understood =
		captured_take(source->link, bytes, header->caplen, header->len, -1, ret_captured);
	return 1;
}
