/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the verb capture share: cmd_capture.c takes the call and turns the loop,
 * capture_sources.c follows the slaves, capture_out.c writes.
 */
#ifndef XBOND_CLI_PACKETS_CAPTURE_RUN_H
#define XBOND_CLI_PACKETS_CAPTURE_RUN_H

#include <net/if.h>

#include "cli/packets/order.h"
#include "cli/packets/pcapng.h"
#include "cli/base/tap.h"
#include "common/pins.h"

#define CAPTURE_SOURCES (2 * XBOND_MAX_SLAVES)

/* One slave in one direction. It stays in memory after its slave has left, for its packets. */
struct capture_source {
	struct capture_source *next;
	struct tap tap;
	bool open, started;
	char device[IF_NAMESIZE];
	int ifindex;
	uint32_t interface; /* its number in the file */
	uint64_t start_ns;
};

struct capture_out {
	const char *file; /* NULL: text */
	int fd;
	bool is_regular;
	bool closed; /* the reader of the pipe has gone */
	uint64_t written;
	uint32_t interfaces;
	struct pcapng blocks;
};

struct capture {
	const struct pins *pins;
	const char *bond, *slave; /* slave NULL: all */
	const char *expression;	  /* NULL: no filter */
	uint32_t snaplen;
	uint64_t most; /* packets; 0: no end */
	uint64_t packets;
	struct sock_fprog filter;
	struct capture_source *sources;
	uint64_t since_ns; /* Unix time: from then on all of the first slaves are heard */
	struct order order;
	struct capture_out out;
	struct err trouble; /* with a slave that came later; said once */
};

/* Opens what is missing, closes what has left. */
int capture_follow_slaves(struct capture *capture, struct err *err);
/* Takes what is in the rings. */
void capture_read(struct capture *capture, uint64_t now_ns);
/* No more packets come into the rings. */
void capture_stop(struct capture *capture);
/* Counts of the kernel into the file, and sockets closed. */
void capture_close(struct capture *capture);
/* Memory, at the very end. */
void capture_free(struct capture *capture);
uint64_t capture_dropped(const struct capture *capture);

/* Unix time. */
uint64_t capture_out_now_ns(void);
void capture_out_begin(struct capture_out *out, const char *file, const char *bond);
/* An existing file is emptied, so this comes when all else has worked. */
int capture_out_open(struct capture_out *out, struct err *err);
void capture_out_interface(struct capture *capture, struct capture_source *source);
void capture_out_packet(struct capture *capture, const struct capture_source *source,
			const struct tap_packet *packet);
void capture_out_statistics(struct capture *capture, const struct capture_source *source);
/* Writes whole blocks. If that fails, the file ends with the last whole block. */
int capture_out_flush(struct capture_out *out, struct err *err);
int capture_out_close(struct capture_out *out, struct err *err);

#endif
