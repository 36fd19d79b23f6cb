/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which bucket a transmit program takes for many packets, for tests and benchmarks: picks PROGRAM
 * VERDICT [LOST...] reads requests (struct request, then the packet's bytes) and writes one __u32
 * for each: the bucket, or PICK_FAILED when the program does not return VERDICT. Plays bondd, like
 * tests/bpf/datapath.py, which is slower and can do more. PROGRAM is one of the bond's, or an
 * object file of one that includes xbond/select.bpf.h. LOST are slots without a device. 64 slots
 * hold 12 bits in two runs: the upper six bits of the bucket, then the lower six. With detours
 * (slots lost, or not in the mask), this is the number of a pair of slots.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xbond.skel.h"
#include "bpf/xdp.skel.h"
#include "xbond/loader.h"

#define PICK_FAILED 0xffffffffu
#define MAX_PACKET 2048
#define FIRST_SLAVE 100
#define LO_INDEX 1 /* stands for the device of every slave: it has carrier */

struct request {
	__u64 mask; /* of the slots that may transmit */
	__u32 policy, seed, symmetric, flow_label, length;
	__u32 tlb; /* is it balance-tlb? */
};

struct picker {
	struct xbond_bpf *bpf;
	struct xbond_counters *counters; /* of one lookup: cpus of them per slot */
	int program, counters_fd, cpus;
	__u32 verdict;
	__u64 sent[XBOND_MAX_SLAVES];
};

static void fill_maps(struct xbond_bpf *bpf)
{
	struct xbond_table *table = &bpf->data_table->table;
	struct xbond_buckets *buckets = &bpf->data_buckets->buckets;

	table->selection = XBOND_SELECT_HASH;
	table->watched = 1;
	table->select_abi = XBOND_SELECT_ABI;
	table->rx_mask = ~0ull;
	table->bond_ifindex = 50;
	table->port_ifindex = 51;
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		table->ifindex[slot] = FIRST_SLAVE + slot;
	for (int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		bpf->data_alb->alb.mac[slot] = (__u64)slot + 1;
		bpf->data_alb->alb.order[slot] = (__u8)slot;
	}
	bpf->data_alb->alb.bond_mac = bpf->data_alb->alb.mac[0];
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
		err(1, "counters");
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
		err(1, "BPF_PROG_RUN");
	return options.retval == picker->verdict ? slot_that_sent(picker) : PICK_FAILED;
}

static __u32 pick(struct picker *picker, const struct request *request, void *packet)
{
	struct xbond_settings *settings = &picker->bpf->data_settings->settings;
	struct xbond_table *table = &picker->bpf->data_table->table;
	__u32 upper, lower;

	settings->xmit_hash_policy = request->policy;
	settings->symmetric = request->symmetric;
	settings->ip6_flow_label = request->flow_label;
	table->hash_seed = request->seed;
	table->tx_mask = request->mask;
	table->flags = XBOND_F_CARRIER | XBOND_F_XDP_TX | (request->tlb ? XBOND_F_TLB : 0);
	upper = slot_of(picker, packet, request->length, 0);
	lower = slot_of(picker, packet, request->length, 1);
	return upper == PICK_FAILED || lower == PICK_FAILED ? PICK_FAILED : upper * 64 + lower;
}

static const struct {
	const char *pin, *of_tc, *of_xdp;
} shared[] = {
	{ XBOND_PIN_SETTINGS, ".data.settings", ".data.settings" },
	{ XBOND_PIN_TABLE, ".data.table", ".data.table" },
	{ XBOND_PIN_BUCKETS, ".data.buckets", ".data.buckets" },
	{ XBOND_PIN_CURSOR, ".data.cursor", ".data.cursor" },
	{ XBOND_PIN_WAKE, ".data.wake", ".data.wake" },
	{ XBOND_PIN_DOUBT, ".data.doubt", ".data.doubt" },
	{ XBOND_PIN_MOVES, ".data.moves", ".data.moves" },
	{ XBOND_PIN_ALB, ".data.alb", ".data.alb" },
	{ XBOND_PIN_VLANS, ".data.vlans", ".data.vlans" },
	{ XBOND_PIN_COUNTERS, "counters", "counters" },
	{ XBOND_PIN_LOSSES, "losses", "losses" },
	{ XBOND_PIN_LOADS, "loads", "loads" },
	{ XBOND_PIN_FLOWLETS, ".data.flowlets", ".data.flowlets" },
	{ XBOND_PIN_RECENT, "recent", "recent" },
	{ XBOND_PIN_XDP_SLAVES, "xdp_slaves", "devices" },
	{ XBOND_PIN_XDP_ALL, "xdp_all", "xdp_all" },
	{ XBOND_PIN_DEVICES, "devices", NULL },
};

static int map_of(const struct xbond_bpf *bpf, size_t at)
{
	return bpf_object__find_map_fd_by_name(bpf->obj, shared[at].of_tc);
}

static int find_xdp_program(const struct xbond_bpf *bpf, const char *name)
{
	struct xdp_bpf *xdp = xdp_bpf__open();
	struct bpf_program *program;

	if (!xdp)
		err(1, "opening the XDP programs");
	bpf_program__set_autoload(xdp->progs.xbond_xdp_rx_tags, false);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (shared[i].of_xdp &&
		    bpf_map__reuse_fd(bpf_object__find_map_by_name(xdp->obj, shared[i].of_xdp),
				      map_of(bpf, i)))
			err(1, "sharing maps");
	if (xdp_bpf__load(xdp))
		err(1, "loading the XDP programs");
	program = bpf_object__find_program_by_name(xdp->obj, name);
	return program ? bpf_program__fd(program) : -1;
}

/* Pins the maps for as long as it takes to load the object by them. */
static int load_with_library(const struct xbond_bpf *bpf, const char *file)
{
	struct bpf_object *object = bpf_object__open(file);
	char dir[64], path[128], why[XBOND_WHY_SIZE];
	int r;

	snprintf(dir, sizeof(dir), "/sys/fs/bpf/xbond-picks-%d", getpid());
	if (!object || mkdir(dir, 0700))
		err(1, "%s", file);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, shared[i].pin);
		bpf_obj_pin(map_of(bpf, i), path);
	}
	r = xbond_use(object, dir, why);
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, shared[i].pin);
		unlink(path);
	}
	rmdir(dir);
	if (r) {
		fprintf(stderr, "picks: %s: %s\n", file, why);
		exit(1);
	}
	if (bpf_object__load(object))
		err(1, "%s", file);
	return bpf_program__fd(bpf_object__next_program(object, NULL));
}

/* A program of the TC object, or one over the same maps; -1: there is none. */
static int find_program(const struct xbond_bpf *bpf, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, name);

	if (program)
		return bpf_program__fd(program);
	return strchr(name, '/') ? load_with_library(bpf, name) : find_xdp_program(bpf, name);
}

static void give_devices(const struct xbond_bpf *bpf, int lost_count, char **lost)
{
	const struct bpf_map *maps[] = { bpf->maps.devices, bpf->maps.xdp_slaves };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		for (__u32 slot = 0, device = LO_INDEX; slot < XBOND_MAX_SLAVES; slot++)
			if (bpf_map_update_elem(bpf_map__fd(maps[i]), &slot, &device, BPF_ANY))
				err(1, "devices");
		for (int at = 0; at < lost_count; at++) {
			__u32 slot = (__u32)atoi(lost[at]);

			if (bpf_map_delete_elem(bpf_map__fd(maps[i]), &slot))
				err(1, "no device");
		}
	}
}

int main(int argc, char **argv)
{
	struct picker picker = { .bpf = xbond_bpf__open_and_load(),
				 .cpus = libbpf_num_possible_cpus() };
	struct request request;
	char packet[MAX_PACKET];

	if (!picker.bpf || picker.cpus < 1)
		err(1, "loading the datapath");
	fill_maps(picker.bpf);
	picker.program = argc >= 3 ? find_program(picker.bpf, argv[1]) : -1;
	if (picker.program < 0) {
		fprintf(stderr, "usage: picks PROGRAM VERDICT [LOST...] <requests >buckets\n");
		return 2;
	}
	picker.verdict = (__u32)atoi(argv[2]);
	picker.counters_fd = bpf_map__fd(picker.bpf->maps.counters);
	picker.counters = calloc((size_t)picker.cpus * XBOND_MAX_SLAVES, sizeof(*picker.counters));
	if (!picker.counters)
		err(1, "memory");
	give_devices(picker.bpf, argc - 3, argv + 3);
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
