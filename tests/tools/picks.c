/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which bucket a transmit program takes for many packets, for tests and benchmarks: picks PROGRAM
 * VERDICT reads requests (struct request, then the packet's bytes) and writes one __u32 for each:
 * the bucket, or PICK_FAILED when the program does not return VERDICT. Plays bondd, like
 * tests/bpf/datapath.py, which is slower and can do more.
 * 64 slots hold 12 bits in two runs: the upper six bits of the bucket, then the lower six.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "bpf/xbond.skel.h"
#include "bpf/xdp.skel.h"

#define PICK_FAILED 0xffffffffu
#define MAX_PACKET 2048
#define FIRST_SLAVE 100

struct request {
	__u32 policy, seed, symmetric, flow_label, length;
};

struct picker {
	struct xbond_bpf *bpf;
	struct xbond_counters *counters; /* of one lookup: cpus of them per slot */
	int program, counters_fd, cpus;
	__u32 verdict;
	__u64 sent[XBOND_MAX_SLAVES];
};

static void die(const char *what)
{
	fprintf(stderr, "picks: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void fill_maps(struct xbond_bpf *bpf)
{
	struct xbond_table *table = &bpf->data_table->table;
	struct xbond_buckets *buckets = &bpf->data_buckets->buckets;

	table->selection = XBOND_SELECT_HASH;
	table->flags = XBOND_F_CARRIER | XBOND_F_XDP_TX;
	table->watched = 1;
	table->tx_mask = table->rx_mask = ~0ull;
	table->bond_ifindex = 50;
	table->port_ifindex = 51;
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		table->ifindex[slot] = FIRST_SLAVE + slot;
	table->bucket_count[0] = table->bucket_count[1] = XBOND_BUCKETS;
	for (int bucket = 0; bucket < XBOND_BUCKETS; bucket++) {
		buckets->bucket[0][bucket] = bucket / 64;
		buckets->bucket[1][bucket] = bucket % 64;
	}
}

/* The slot whose counter has risen by one, or PICK_FAILED. */
static __u32 slot_that_sent(struct picker *picker)
{
	__u32 keys[XBOND_MAX_SLAVES], batch, count = XBOND_MAX_SLAVES, found = PICK_FAILED,
					     rises = 0;
	LIBBPF_OPTS(bpf_map_batch_opts, options);

	if (bpf_map_lookup_batch(picker->counters_fd, NULL, &batch, keys, picker->counters, &count,
				 &options) &&
	    errno != ENOENT)
		die("counters");
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u64 sum = 0;

		for (int cpu = 0; cpu < picker->cpus; cpu++)
			sum += picker->counters[slot * picker->cpus + cpu].tx_packets;
		if (sum != picker->sent[slot]) {
			found = slot;
			rises += sum - picker->sent[slot];
		}
		picker->sent[slot] = sum;
	}
	return rises == 1 ? found : PICK_FAILED;
}

static __u32 slot_of(struct picker *picker, void *packet, __u32 length, int copy)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = length,
		    .repeat = 1);

	picker->bpf->data_table->table.active = copy;
	if (bpf_prog_test_run_opts(picker->program, &options))
		die("BPF_PROG_RUN");
	return options.retval == picker->verdict ? slot_that_sent(picker) : PICK_FAILED;
}

static __u32 pick(struct picker *picker, const struct request *request, void *packet)
{
	struct xbond_settings *settings = &picker->bpf->data_settings->settings;
	__u32 upper, lower;

	settings->xmit_hash_policy = request->policy;
	settings->symmetric = request->symmetric;
	settings->ip6_flow_label = request->flow_label;
	picker->bpf->data_table->table.hash_seed = request->seed;
	upper = slot_of(picker, packet, request->length, 0);
	lower = slot_of(picker, packet, request->length, 1);
	return upper == PICK_FAILED || lower == PICK_FAILED ? PICK_FAILED : upper * 64 + lower;
}

static void share(struct bpf_map *map, const struct bpf_map *of)
{
	if (bpf_map__reuse_fd(map, bpf_map__fd(of)))
		die("sharing maps");
}

/* A program of the TC object, or of the XDP object over the same maps; -1: there is none. */
static int find_program(const struct xbond_bpf *bpf, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, name);
	struct xdp_bpf *xdp;

	if (program)
		return bpf_program__fd(program);
	xdp = xdp_bpf__open();
	if (!xdp)
		die("opening the XDP programs");
	bpf_program__set_autoload(xdp->progs.xbond_xdp_rx_tags, false);
	share(xdp->maps.data_settings, bpf->maps.data_settings);
	share(xdp->maps.data_table, bpf->maps.data_table);
	share(xdp->maps.data_buckets, bpf->maps.data_buckets);
	share(xdp->maps.data_cursor, bpf->maps.data_cursor);
	share(xdp->maps.counters, bpf->maps.counters);
	if (xdp_bpf__load(xdp))
		die("loading the XDP programs");
	program = bpf_object__find_program_by_name(xdp->obj, name);
	return program ? bpf_program__fd(program) : -1;
}

int main(int argc, char **argv)
{
	struct picker picker = { .bpf = xbond_bpf__open_and_load(),
				 .cpus = libbpf_num_possible_cpus() };
	struct request request;
	char packet[MAX_PACKET];

	if (!picker.bpf || picker.cpus < 1)
		die("loading the datapath");
	picker.program = argc == 3 ? find_program(picker.bpf, argv[1]) : -1;
	if (picker.program < 0) {
		fprintf(stderr, "usage: picks PROGRAM VERDICT <requests >buckets\n");
		return 2;
	}
	picker.verdict = (__u32)atoi(argv[2]);
	picker.counters_fd = bpf_map__fd(picker.bpf->maps.counters);
	picker.counters = calloc((size_t)picker.cpus * XBOND_MAX_SLAVES, sizeof(*picker.counters));
	if (!picker.counters)
		die("memory");
	fill_maps(picker.bpf);
	while (fread(&request, sizeof(request), 1, stdin) == 1) {
		__u32 bucket;

		if (request.length > sizeof(packet) ||
		    fread(packet, request.length, 1, stdin) != 1) {
			fprintf(stderr, "picks: a request is cut or longer than %d bytes\n",
				MAX_PACKET);
			return 1;
		}
		bucket = pick(&picker, &request, packet);
		fwrite(&bucket, sizeof(bucket), 1, stdout);
	}
	return 0;
}
