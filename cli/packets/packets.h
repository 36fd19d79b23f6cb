/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of capture share, from the sockets to what is written; and those of flows. */
#ifndef XBOND_CLI_PACKETS_PACKETS_H
#define XBOND_CLI_PACKETS_PACKETS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/captured.h"
#include "common/pins.h"

/*
 * Brings packets of several rings into the order of time. Each is held for a while, because an
 * earlier one of another ring may still come. Memory is bounded: beyond ORDER_MOST the earliest
 * packet does not wait any longer.
 */

#define ORDER_MOST (64 << 20)

struct order_packet {
	uint64_t due_ns; /* monotonic: it has been held for long enough */
	uint64_t number; /* packets of the same time stay in this order */
	const void *source;
	struct tap_packet packet; /* its bytes follow here */
	uint8_t bytes[];
};

struct order {
	struct order_packet **heap;
	size_t count, capacity;
	size_t size; /* of all packets in bytes */
	uint64_t number;
};

/* Keeps a copy. */
void order_put(struct order *order, const struct tap_packet *packet, const void *source,
	       uint64_t due_ns);
/* The earliest packet, if it is due at that time; free() it. Else NULL. */
struct order_packet *order_take(struct order *order, uint64_t now_ns);
void order_done(struct order *order);

/*
 * Blocks of a pcapng file, in memory. Whoever writes them out writes whole blocks. Written by
 * draft-ietf-opsawg-pcapng. Knows no bonds and no files.
 */

struct pcapng {
	uint8_t *bytes;
	size_t size, capacity;
};

struct pcapng_interface {
	const char *name, *description;
	const char *filter; /* NULL: none */
	uint32_t snaplen;
};

struct pcapng_packet {
	uint32_t interface; /* counted from 0 in the order of pcapng_put_interface() */
	uint64_t time_ns;   /* Unix time */
	const uint8_t *bytes;
	uint32_t kept, length;
	int32_t vlan_tci; /* a tag to be put back behind the MAC addresses, or -1 */
	uint16_t vlan_type;
	uint32_t snaplen; /* applies with the tag */
	uint32_t flags;
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t start_ns, end_ns, received, dropped;
};

/* The first block. */
void pcapng_put_section(struct pcapng *pcapng, const char *application);
void pcapng_put_interface(struct pcapng *pcapng, const struct pcapng_interface *interface);
void pcapng_put_packet(struct pcapng *pcapng, const struct pcapng_packet *packet);
void pcapng_put_statistics(struct pcapng *pcapng, const struct pcapng_statistics *statistics);
/* Begins again with an empty buffer. */
void pcapng_clear(struct pcapng *pcapng);
void pcapng_done(struct pcapng *pcapng);

/* cmd_capture.c takes the call, follows the slaves and turns the loop; capture_out.c writes. */

/* One slave in one direction. It stays in memory after its slave has left, for its packets. */
struct capture_source {
	struct capture_source *next;
	struct tap tap;
	bool open, started, has_left;
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
	bool is_deleted; /* its bond */
	struct sock_fprog filter;
	struct capture_source *sources;
	uint64_t since_ns; /* Unix time: from then on all of the first slaves are heard */
	struct order order;
	struct capture_out out;
	struct err trouble; /* with a slave that came later; said once */
};

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

/* What flows has seen: cmd_flows.c samples it, and flows_out.c shows it. */

struct flows_slave {
	const struct flows *flows;
	unsigned int slot;
	bool open;
	bool has_left;		    /* while it was measured; its numbers mean nothing then */
	char name[XBOND_NAME_SIZE]; /* when it began; another slave may get the slot */
	uint32_t ifindex;
	struct tap tap;
	/* Counted by the programs in that time; exact, but for frames of others (LACPDUs). */
	uint64_t packets, bytes;
	uint64_t samples, sampled_bytes;
	const struct flow_count *flow; /* by flows_sort(), the largest first */
	size_t flow_count;
	double flow_bytes; /* of all of them, in samples that stand for others */
	/* At the end: */
	double packets_per_s, bits_per_s; /* -1: it has left */
	const char *unseen; /* why the samples do not show everything; NULL: they do */
};

struct flows {
	const struct pins *pins;
	const char *bond;
	uint32_t mode;
	enum tap_direction direction;
	uint32_t one_of; /* one packet of so many was looked at */
	double seconds;
	bool all_counted;
	size_t top;
	struct flows_slave slave[XBOND_MAX_SLAVES];
	struct flow_counts counts;
};

/* Gives the slaves their flows, in order. The table has no holes then, and is no hash table. */
void flows_sort(struct flows *flows);
/* Fills in what is known of a slave at the end. */
void flows_judge(struct flows *flows, unsigned int slot);
void flows_print(const struct flows *flows);

#endif
